/** Answer to a create, as in the interface: what is needed to find the resource again. */
export class CreatedResponse {
  readonly id: string;
  readonly slug: string;
  readonly object: string;
}
