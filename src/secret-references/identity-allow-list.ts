import { Injectable } from '@nestjs/common';
import { foldId } from '../common/uuid.js';
import { AppConfig, InvalidConfigError } from '../config/environment.js';
import { IDENTITY_ENTRIES } from '../config/secret-settings.js';
import { readManagerName } from './auth-config/auth-schemes.js';
import type { ManagerType } from './managers/secret-manager.types.js';

const ANYONE = '*';
/** The text before a `*` that is part of a host. */
const BEGINNING_OF_HOST = /^[a-z]+:\/\/[^/#]*$/i;

interface Entry {
  readonly organisationId: string;
  readonly manager: ManagerType;
  readonly pattern: RegExp;
}

/**
 * Which secrets an organisation may read with the gateway's own identity (SECRET_IDENTITY_ALLOW). Nothing by default:
 * otherwise every administrator of an organisation could name another one's secret (a confused deputy).
 */
@Injectable()
export class IdentityAllowList {
  private readonly entries: readonly Entry[];

  constructor(config: AppConfig) {
    this.entries = config.SECRET_IDENTITY_ALLOW.map(toEntry);
  }

  /** @param target the manager's `identityTarget`: a secret's path, a vault, a role */
  allows(organisationId: string, manager: ManagerType, target: string): boolean {
    const id = foldId(organisationId);
    return this.entries.some(
      (entry) =>
        (entry.organisationId === ANYONE || entry.organisationId === id) &&
        entry.manager === manager &&
        entry.pattern.test(target),
    );
  }
}

function toEntry(text: string): Entry {
  const [organisationId = '', manager = '', pattern = ''] = text.split(' ');
  const named = readManagerName(manager);
  if (named === undefined) throw new InvalidConfigError([`SECRET_IDENTITY_ALLOW ${IDENTITY_ENTRIES}`]);
  return { organisationId: foldId(organisationId), manager: named.type, pattern: toPattern(pattern) };
}

/** `*` matches any characters; within the host none of `/` and `#`, or a path on another host could imitate the host. */
function toPattern(text: string): RegExp {
  const source = text.replace(/[\\^$.+?()[\]{}|*]/g, (character, at: number) => {
    if (character !== '*') return `\\${character}`;
    return BEGINNING_OF_HOST.test(text.slice(0, at)) ? '[^/#]*' : '.*';
  });
  return new RegExp(`^${source}$`, 's');
}
