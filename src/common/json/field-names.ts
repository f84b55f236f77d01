/**
 * The name of a field as a provider may read it: JSON readers of Go and .NET ignore case. By upper case first, since Go also folds
 * ſ and the Kelvin sign to their plain letters.
 */
export function foldField(name: string): string {
  return name.toUpperCase().toLowerCase();
}

/** Whether a provider may read the field under this name. */
export function isNamed(field: string, name: string): boolean {
  return field === name || foldField(field) === name.toLowerCase();
}
