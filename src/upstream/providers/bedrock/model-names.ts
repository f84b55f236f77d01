import type { ModelName, ModelNames } from '../provider.types.js';

/** The ARN of a foundation model in any region. China and governments have other partitions. */
const FOUNDATION_MODEL = /^arn:(?<partition>aws(?:-[a-z]+)*):bedrock:[a-z0-9-]*::foundation-model\/(?<id>.+)$/;
/** The partitions of China and of governments have their own prices. */
const PRICED_PARTITION = 'aws';

const ARN_MARK = 'arn:';

/** A foundation model has one id, and an ARN in each region. */
export const bedrockModelNames: ModelNames = {
  canonical: idOf,
  aliases: (name) => (FOUNDATION_MODEL.test(name) ? [arnName(name)] : []),
  priced(name) {
    const partition = FOUNDATION_MODEL.exec(name)?.groups?.['partition'];
    const own = [partition === undefined ? { text: name, markLength: 0 } : arnName(name)];
    return partition === PRICED_PARTITION ? [own, [{ text: idOf(name), markLength: 0 }]] : [own];
  },
};

function arnName(arn: string): ModelName {
  return { text: arn, markLength: ARN_MARK.length };
}

function idOf(name: string): string {
  return FOUNDATION_MODEL.exec(name)?.groups?.['id'] ?? name;
}
