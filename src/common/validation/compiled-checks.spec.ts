import { describe, expect, it } from '@jest/globals';
import { plainToInstance, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
  ValidateIf,
  ValidateNested,
  validateSync,
} from 'class-validator';
import fc from 'fast-check';
import { CreateRerankDto } from '../../rerank/dto/create-rerank.dto.js';
import { CreateVirtualKeyDto, UpdateVirtualKeyDto } from '../../virtual-keys/dto/virtual-key.dto.js';
import { type Accepts, compileChecks } from './compiled-checks.js';
import { IsSlug } from './is-slug.decorator.js';
import { markInheritedNames } from './inherited-names.js';
import { Optional, OptionalOrNull } from './optional.decorator.js';

class Parent {
  @Optional()
  @IsString()
  @MaxLength(3)
  readonly inherited?: string;
}

/** One field for each way in which rules combine. */
class Sample extends Parent {
  @IsInt()
  @Min(1)
  @Max(5)
  readonly required: number;

  @OptionalOrNull()
  @IsIn(['a', 'b'])
  readonly nullable?: string | null;

  @IsOptional()
  @IsSlug()
  readonly lax?: string | null;

  @Optional()
  @IsArray()
  @ArrayMaxSize(2)
  @IsIn([1, 2], { each: true })
  readonly list?: number[];

  @ValidateIf((body: object) => 'required' in body && body.required === 5)
  @IsString()
  readonly onlyWithFive?: string;
}

class Nested {
  @ValidateNested()
  @Type(() => Parent)
  readonly child: Parent;
}

class WithDefault {
  @IsString()
  readonly text: string = 'default';
}

class Grouped {
  @IsString({ groups: ['create'] })
  readonly name: string;
}

type Body = Readonly<Record<string, unknown>>;

/** What the full validator says of a body, with the settings that the gateway gives it. */
function libraryAccepts(target: new () => object, body: Body): boolean {
  const options = { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: true };
  return validateSync(plainToInstance(target, markInheritedNames(body)), options).length === 0;
}

function compiled(target: new () => object): Accepts {
  const accepts = compileChecks(target);
  if (accepts === undefined) throw new Error(`${target.name} was not compiled`);
  return accepts;
}

/** Bodies whose fields are right, wrong, null or missing, and that may have a field too many. */
function bodiesOf(fields: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<Body> {
  const anyValue = fc.oneof(fc.constant(null), fc.jsonValue({ maxDepth: 2 }));
  const mixed = Object.fromEntries(
    Object.entries(fields).map(([name, right]) => [
      name,
      fc.oneof({ weight: 6, arbitrary: right }, { weight: 1, arbitrary: anyValue }),
    ]),
  );
  const extra = fc.oneof(
    { weight: 6, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc.dictionary(fc.constantFrom('extra', 'constructor', 'toString', 'length', '0'), anyValue, {
        maxKeys: 1,
      }),
    },
  );
  return fc.tuple(fc.record(mixed, { requiredKeys: [] }), extra).map(([body, more]) => ({ ...body, ...more }));
}

function hasInheritedName(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, field]) => name in Object.prototype || hasInheritedName(field));
}

const shortText = fc.string({ maxLength: 4 });

const SAMPLES: readonly (readonly [new () => object, fc.Arbitrary<Body>])[] = [
  [
    Sample,
    bodiesOf({
      inherited: shortText,
      required: fc.integer({ min: 0, max: 6 }),
      nullable: fc.constantFrom('a', 'b', null, 'c'),
      lax: fc.constantFrom('a-b', '', null, 'a b'),
      list: fc.array(fc.constantFrom(1, 2, 3), { maxLength: 3 }),
      onlyWithFive: shortText,
    }),
  ],
  [
    CreateRerankDto,
    bodiesOf({
      model: shortText,
      query: shortText,
      documents: fc.array(fc.oneof(shortText, fc.record({ text: shortText })), { maxLength: 3 }),
      top_n: fc.integer({ min: 0, max: 3 }),
      return_documents: fc.boolean(),
      max_tokens_per_doc: fc.integer({ min: 0, max: 3 }),
      priority: fc.double(),
      rank_fields: fc.array(shortText, { maxLength: 2 }),
      truncation: fc.boolean(),
      parameters: fc.dictionary(fc.constantFrom('a', 'b'), fc.jsonValue({ maxDepth: 1 })),
    }),
  ],
  [
    CreateVirtualKeyDto,
    bodiesOf({
      name: shortText,
      provider: fc.constantFrom('cohere', 'local', 'nobody'),
      slug: fc.constantFrom('a-b', '', 'a b'),
      key: shortText,
      config: fc.dictionary(fc.constantFrom('a', 'b'), fc.jsonValue({ maxDepth: 1 })),
      description: fc.constantFrom('text', null, ''),
      expires_at: fc.constantFrom(0, -1, 1.5, null, 253_402_300_799, 253_402_300_800),
      organisation_id: fc.uuid(),
      workspace_id: shortText,
    }),
  ],
  [
    UpdateVirtualKeyDto,
    bodiesOf({ name: shortText, key: shortText, config: fc.constant({}), description: fc.constantFrom('text', null) }),
  ],
];

describe.each(SAMPLES)('the compiled rules of %p', (target, bodies) => {
  const accepts = compiled(target);

  it('say yes exactly when the library does', () => {
    fc.assert(
      fc.property(bodies, (body) => expect(accepts(body)).toBe(libraryAccepts(target, body))),
      { numRuns: 1_000 },
    );
  });

  it('only accept bodies that the library would pass on unchanged', () => {
    fc.assert(
      fc.property(bodies, (body) => {
        // The library leaves out nested fields whose names every object has; the compiled rules pass them on.
        fc.pre(accepts(body) && !hasInheritedName(body));
        expect({ ...plainToInstance(target, body) }).toEqual(body);
      }),
    );
  });

  it('say yes to some of the random bodies and no to others', () => {
    const answers = fc.sample(bodies, 2_000).map(accepts);
    expect(new Set(answers)).toEqual(new Set([true, false]));
  });
});

describe('the compiled rules', () => {
  const accepts = compiled(Sample);

  it.each([
    ['an own field called __proto__', JSON.parse('{"required": 1, "__proto__": {"required": 2}}')],
    ['an own field called constructor', { required: 1, constructor: 1 }],
    ['a field that Object.prototype has', { required: 1, toString: 1 }],
    [
      'required fields from the prototype only',
      Object.create({ required: 1 }, { extra: { value: 1, enumerable: true } }),
    ],
  ])('refuse %s', (_what, body) => expect(accepts(body)).toBe(false));

  it('do not answer for classes with rules that need the library', () => {
    expect(compileChecks(Nested)).toBeUndefined();
    expect(compileChecks(Grouped)).toBeUndefined();
    expect(compileChecks(WithDefault)).toBeUndefined();
  });
});
