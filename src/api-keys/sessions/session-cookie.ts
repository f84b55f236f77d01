import type { Request, Response } from 'express';

/** The names differ, so that a page over plain HTTP cannot overwrite the cookie of HTTPS (RFC 6265bis, section 4.1.3.2). */
const SECURE_PREFIX = '__Host-';
const SESSION = 'tollgate-session';
const LOGIN = 'tollgate-login';
const MAX_TOKEN = 4_096;

/** The token in the cookie of a request; undefined without one. */
export function readSessionCookie(request: Pick<Request, 'headers' | 'secure'>): string | undefined {
  return readCookie(request, SESSION);
}

export function writeSessionCookie(response: Response, token: string, maxAgeSeconds: number): void {
  const { secure } = response.req;
  response.cookie(nameOf(SESSION, secure), token, { ...attributes(secure, 'strict'), maxAge: maxAgeSeconds * 1_000 });
}

export function clearSessionCookie(response: Response): void {
  const { secure } = response.req;
  response.clearCookie(nameOf(SESSION, secure), attributes(secure, 'strict'));
}

/** The token of a log-in that has begun; undefined without one. */
export function readLoginCookie(request: Pick<Request, 'headers' | 'secure'>): string | undefined {
  return readCookie(request, LOGIN);
}

/** Lax: the browser comes back from the identity provider's site. */
export function writeLoginCookie(response: Response, token: string, maxAgeSeconds: number): void {
  const { secure } = response.req;
  response.cookie(nameOf(LOGIN, secure), token, { ...attributes(secure, 'lax'), maxAge: maxAgeSeconds * 1_000 });
}

export function clearLoginCookie(response: Response): void {
  const { secure } = response.req;
  response.clearCookie(nameOf(LOGIN, secure), attributes(secure, 'lax'));
}

function readCookie({ headers, secure }: Pick<Request, 'headers' | 'secure'>, name: string): string | undefined {
  const { cookie } = headers;
  if (cookie === undefined) return undefined;
  const start = `${nameOf(name, secure)}=`;
  const part = cookie.split(';').find((one) => one.trimStart().startsWith(start));
  const token = part?.trim().slice(start.length);
  return token === undefined || token === '' || token.length > MAX_TOKEN ? undefined : token;
}

function nameOf(name: string, isSecure: boolean): string {
  return isSecure ? `${SECURE_PREFIX}${name}` : name;
}

function attributes(secure: boolean, sameSite: 'strict' | 'lax') {
  return { httpOnly: true, sameSite, secure, path: '/' } as const;
}
