import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { rotateWebhookSecret } from '../api/sdk.gen';
import type { WebhookEndpoint } from '../api/types.gen';
import { Confirm } from '../components/confirm';
import { Copyable } from '../components/copy';
import { DoneDialog } from '../components/done-dialog';
import { dateTime } from '../lib/format';

interface WebhookSecretProps {
  readonly title: string;
  readonly secret: string;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/** Shows the secret of a webhook, once. */
export function WebhookSecret({ title, secret, onClose, children }: WebhookSecretProps) {
  return (
    <DoneDialog title={title} onClose={onClose}>
      {children}
      <p className="text-warn">Copy the secret that signs the deliveries now: it is not shown again.</p>
      <Copyable label="Secret of the webhook" text={secret} />
    </DoneDialog>
  );
}

interface RotateWebhookProps {
  readonly endpoint: WebhookEndpoint;
  readonly onClose: () => void;
}

/** Gives a webhook a new secret. */
export function RotateWebhook({ endpoint, onClose }: RotateWebhookProps) {
  const rotated = useMutation({
    mutationFn: async () =>
      (await rotateWebhookSecret({ path: { id: endpoint.id }, body: {}, throwOnError: true })).data,
  });
  if (rotated.isSuccess) {
    const { secret, previous_valid_until: until } = rotated.data;
    return (
      <WebhookSecret title="The webhook has a new secret" secret={secret} onClose={onClose}>
        {until !== null && <p>Until {dateTime(until)}, deliveries are signed with the old secret too.</p>}
      </WebhookSecret>
    );
  }
  return (
    <Confirm
      title="Rotate the secret"
      action="Rotate"
      onConfirm={() => rotated.mutateAsync()}
      onClose={onClose}
      onDone={() => undefined}
    >
      <p className="wrap-anywhere">{endpoint.url} gets a new secret. Its server has a day to change.</p>
    </Confirm>
  );
}
