export const guide = [];
