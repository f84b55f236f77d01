import { Inject, Injectable } from '@nestjs/common';
import { VENDORS } from './vendor-list.js';
import type { Vendor } from './vendor.types.js';

@Injectable()
export class VendorRegistry {
  readonly #bySlug: ReadonlyMap<string, Vendor>;

  constructor(@Inject(VENDORS) vendors: readonly Vendor[]) {
    this.#bySlug = new Map(vendors.map((vendor) => [vendor.slug, vendor]));
  }

  all(): readonly Vendor[] {
    return [...this.#bySlug.values()];
  }

  find(slug: string): Vendor | undefined {
    return this.#bySlug.get(slug);
  }
}
