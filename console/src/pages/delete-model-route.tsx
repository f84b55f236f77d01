import { deleteModelRoute } from '../api/sdk.gen';
import type { ModelRoute } from '../api/types.gen';
import { Confirm } from '../components/confirm';
import { useApiKeys } from '../lib/whole';

/** Says which keys name the route before it is gone. */
export function DeleteModelRoute({ route, onClose }: { readonly route: ModelRoute; readonly onClose: () => void }) {
  const keys = useApiKeys();
  const bound = (keys.data ?? []).filter(({ allowed_models: models }) => models?.includes(route.name));
  const remove = async (): Promise<void> => {
    await deleteModelRoute({ path: { ref: route.id }, throwOnError: true });
  };
  return (
    <Confirm
      title={`Delete ${route.name}`}
      action="Delete"
      isBlocked={keys.isLoading}
      onConfirm={remove}
      onClose={onClose}
    >
      <p className="wrap-anywhere">
        Calls of the model <span className="font-mono text-xs">{route.name}</span> fail from then on, unless a virtual
        key has a model of that name. The virtual keys of its targets stay.
      </p>
      {bound.length > 0 && (
        <p className="wrap-anywhere">Keys that may call it by name: {bound.map(({ name }) => name).join(', ')}.</p>
      )}
    </Confirm>
  );
}
