import { ValidateBy, type ValidationArguments } from 'class-validator';

/** For text that a reader can judge better than a pattern: the reader's message is the complaint. It must not name the text. */
export function ReadableBy(read: (text: string) => unknown): PropertyDecorator {
  const complaintAbout = (value: unknown): string | undefined => {
    if (typeof value !== 'string') return 'must be a string';
    try {
      read(value);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : 'cannot be read';
    }
  };
  return ValidateBy({
    name: 'readableBy',
    validator: {
      validate: (value: unknown) => complaintAbout(value) === undefined,
      defaultMessage: (args?: ValidationArguments) => `$property ${complaintAbout(args?.value) ?? 'cannot be read'}`,
    },
  });
}
