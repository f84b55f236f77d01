// A self-signed certificate made at run time, so that no private key lies in the repository. Node has no X.509 writer:
// the few DER fields that TLS needs are put together here (RFC 5280, 4.1).
import { generateKeyPairSync, sign } from 'node:crypto';

export interface TestCertificate {
  readonly key: string;
  readonly cert: string;
}

const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const DNS_NAME = 0x82;

const ECDSA_WITH_SHA256 = oid('2a8648ce3d040302');
const COMMON_NAME = oid('550403');
const SUBJECT_ALT_NAME = oid('551d11');

/** For one host name, valid from 2020 to 2049. */
export function selfSignedCertificate(hostname: string): TestCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, Buffer.from(hostname)))));
  const altNames = der(OCTET_STRING, der(SEQUENCE, der(DNS_NAME, Buffer.from(hostname))));
  const algorithm = der(SEQUENCE, ECDSA_WITH_SHA256);
  const body = der(
    SEQUENCE,
    der(0xa0, der(INTEGER, Buffer.from([2]))), // version 3, the first with extensions
    der(INTEGER, Buffer.from([1])),
    algorithm,
    name,
    der(SEQUENCE, der(UTC_TIME, Buffer.from('200101000000Z')), der(UTC_TIME, Buffer.from('491231235959Z'))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(SEQUENCE, der(SEQUENCE, SUBJECT_ALT_NAME, altNames))),
  );
  const signature = der(BIT_STRING, Buffer.from([0]), sign('sha256', body, privateKey));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: pem(der(SEQUENCE, body, algorithm, signature)),
  };
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length =
    content.length < 128
      ? [content.length]
      : content.length < 256
        ? [0x81, content.length]
        : [0x82, content.length >> 8, content.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function pem(certificate: Buffer): string {
  return `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`;
}
