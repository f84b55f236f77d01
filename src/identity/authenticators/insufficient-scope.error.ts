/** The token is good, and grants too little (RFC 6750, section 3.1). */
export class InsufficientScopeError extends Error {
  constructor() {
    super('the token lacks a scope');
    this.name = 'InsufficientScopeError';
  }
}
