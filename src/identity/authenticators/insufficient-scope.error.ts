/** The token is valid, but lacks a scope (RFC 6750, section 3.1). */
export class InsufficientScopeError extends Error {
  constructor() {
    super('the token lacks a scope');
    this.name = 'InsufficientScopeError';
  }
}
