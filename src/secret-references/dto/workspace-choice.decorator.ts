import { buildMessage, ValidateBy, type ValidationArguments } from 'class-validator';

/** For both fields that tell which workspaces may use a reference: all of them, or some, but not both. */
export function IsOneWorkspaceChoice(): PropertyDecorator {
  return ValidateBy({
    name: 'isOneWorkspaceChoice',
    validator: {
      validate: (_value: unknown, args?: ValidationArguments) => args === undefined || isOneChoice(args.object),
      defaultMessage: buildMessage(
        () => '$property: allow_all_workspaces = true and allowed_workspaces exclude each other',
      ),
    },
  });
}

function isOneChoice(body: object): boolean {
  return !(
    'allow_all_workspaces' in body &&
    body.allow_all_workspaces === true &&
    'allowed_workspaces' in body &&
    body.allowed_workspaces !== undefined &&
    body.allowed_workspaces !== null
  );
}
