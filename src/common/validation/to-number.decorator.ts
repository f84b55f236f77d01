import { Transform, type TransformFnParams } from 'class-transformer';

/** For numbers that come as text, in queries and settings. Blanks stay text, which the next rule refuses: they are no zero. */
export const ToNumber = (): PropertyDecorator =>
  Transform(({ value }: TransformFnParams): unknown =>
    typeof value === 'string' && value.trim() !== '' ? Number(value) : value,
  );
