import { Injectable } from '@nestjs/common';
import { AppConfig } from '../config/environment.js';
import { readManagerName } from './auth-config/spelling.js';
import type { ManagerType } from './managers/secret-manager.types.js';

const ANYONE = '*';

interface Entry {
  readonly organisationId: string;
  readonly manager: ManagerType | undefined;
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

  /** `target` is what the manager's scheme says: a secret's path, a vault, a role. */
  allows(organisationId: string, manager: ManagerType, target: string): boolean {
    return this.entries.some(
      (entry) =>
        (entry.organisationId === ANYONE || entry.organisationId === organisationId) &&
        entry.manager === manager &&
        entry.pattern.test(target),
    );
  }
}

function toEntry(text: string): Entry {
  const [organisationId = '', manager = '', pattern = ''] = text.split(' ');
  return { organisationId, manager: readManagerName(manager)?.type, pattern: toPattern(pattern) };
}

function toPattern(text: string): RegExp {
  const parts = text.split('*').map((part) => part.replace(/[\\^$.+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}
