import type { Request, Response } from 'express';

/** The names differ, so that a page over plain HTTP cannot overwrite the cookie of HTTPS (RFC 6265bis, section 4.1.3.2). */
const SECURE_NAME = '__Host-tollgate-session';
const PLAIN_NAME = 'tollgate-session';
const MAX_TOKEN = 1_024;

/** The token in the cookie of a request; undefined without one. */
export function readSessionCookie({ headers, secure }: Pick<Request, 'headers' | 'secure'>): string | undefined {
  const { cookie } = headers;
  if (cookie === undefined) return undefined;
  const start = `${nameOf(secure)}=`;
  const part = cookie.split(';').find((one) => one.trimStart().startsWith(start));
  const token = part?.trim().slice(start.length);
  return token === undefined || token === '' || token.length > MAX_TOKEN ? undefined : token;
}

export function writeSessionCookie(response: Response, token: string, maxAgeSeconds: number): void {
  const { secure } = response.req;
  response.cookie(nameOf(secure), token, { ...attributes(secure), maxAge: maxAgeSeconds * 1_000 });
}

export function clearSessionCookie(response: Response): void {
  const { secure } = response.req;
  response.clearCookie(nameOf(secure), attributes(secure));
}

function nameOf(isSecure: boolean): string {
  return isSecure ? SECURE_NAME : PLAIN_NAME;
}

function attributes(secure: boolean) {
  return { httpOnly: true, sameSite: 'strict', secure, path: '/' } as const;
}
