import { createContext, use } from 'react';
import type { LoggedIn } from './session';

export const LoginContext = createContext<LoggedIn | null>(null);

/** Who is logged in. Only for pages inside the shell. */
export function useLogin(): LoggedIn {
  const login = use(LoginContext);
  if (login === null) throw new Error('there is no login outside the shell');
  return login;
}
