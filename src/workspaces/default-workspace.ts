/** The workspace that every organisation begins with. */
export const DEFAULT_WORKSPACE = { slug: 'default', name: 'Default', description: null, defaults: {} } as const;
