import { Transform, type TransformFnParams } from 'class-transformer';

const DECIMAL = /^\s*-?\d+(?:\.\d+)?\s*$/;

/** Converts decimal numbers in queries and settings from text. Other text stays text, which the next rule refuses. */
export const ToNumber = (): PropertyDecorator =>
  Transform(({ value }: TransformFnParams): unknown =>
    typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value,
  );

/** Splits a text at its commas. */
export const ToList = (): PropertyDecorator =>
  Transform(({ value }: TransformFnParams): unknown =>
    typeof value === 'string'
      ? value
          .split(',')
          .map((item) => item.trim())
          .filter((item) => item !== '')
      : value,
  );
