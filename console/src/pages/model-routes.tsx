import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { listModelRoutesOptions, retrieveModelRouteHealthOptions } from '../api/@tanstack/react-query.gen';
import type { ModelRoute, ModelTarget, TargetHealth } from '../api/types.gen';
import { FILTERS_LOOK } from '../components/list-tools';
import { SearchBox } from '../components/page';
import { RowActions } from '../components/row-actions';
import { type Column, Table } from '../components/table';
import { Badge, type Tone } from '../components/ui/badge';
import { Card } from '../components/ui/card';
import { When } from '../components/when';
import { WorkspaceChoice } from '../components/workspace-choice';
import { counted, percent } from '../lib/format';
import { stepsOf } from '../lib/model-targets';
import { useListSearch } from '../lib/list-search';
import { useLogin } from '../lib/login-context';
import { useNames } from '../lib/names';
import { refreshEvery } from '../lib/reach';
import { DeleteModelRoute } from './delete-model-route';
import { ModelRouteForm } from './model-route-form';

const REFRESH_MS = 5_000;

type Act = { readonly kind: 'change' | 'delete'; readonly route: ModelRoute };

/** The names that lead to models, with the health of their targets. */
export function ModelRoutes() {
  const { may } = useLogin();
  const list = useListSearch();
  const [act, setAct] = useState<Act>();
  const rights = { mayChange: may('model_routes.update'), mayDelete: may('model_routes.delete'), onAct: setAct };
  const close = (): void => setAct(undefined);
  const filters = list.workspace === undefined ? {} : { workspace_id: list.workspace };
  const routes = useQuery({
    ...listModelRoutesOptions({ query: { ...list.paging, ...filters } }),
    // As often as the health of the targets: both are of the same targets then.
    refetchInterval: refreshEvery(REFRESH_MS),
    placeholderData: (previous) => previous,
  });
  return (
    <>
      <div className={FILTERS_LOOK}>
        <SearchBox value={list.search ?? ''} onSearch={list.onSearch} />
        <WorkspaceChoice list={list} />
      </div>
      <Card>
        <Table
          caption="Model routes"
          columns={columns(may('model_routes.read'), rights)}
          query={routes}
          keyOf={({ id }) => id}
          empty="No model route. Calls name a model as @virtual-key/model."
          page={list.page}
          onPage={list.onPage}
          csv={{ path: '/v1/model-routes', query: { search: list.search, ...filters } }}
        />
      </Card>
      {act?.kind === 'change' && <ModelRouteForm route={act.route} onClose={close} />}
      {act?.kind === 'delete' && <DeleteModelRoute route={act.route} onClose={close} />}
    </>
  );
}

interface Rights {
  readonly mayChange: boolean;
  readonly mayDelete: boolean;
  readonly onAct: (act: Act) => void;
}

function columns(mayRead: boolean, { mayChange, mayDelete, onAct }: Rights): readonly Column<ModelRoute>[] {
  return [
    {
      title: 'Route',
      cell: ({ name, slug, max_output_tokens: max }) => (
        <>
          <span className="font-medium">{name}</span>
          {slug !== name && <p className="font-mono text-xs text-muted">{slug}</p>}
          {max !== null && <p className="text-xs text-muted">at most {counted(max, 'token')} of output</p>}
        </>
      ),
    },
    {
      title: 'Targets',
      kind: 'name',
      cell: (route) => (mayRead ? <Health route={route} /> : <Targets targets={route.targets.map(nameOf)} />),
    },
    ...(mayChange || mayDelete
      ? [
          {
            title: 'Actions',
            kind: 'short' as const,
            cell: (route: ModelRoute) => (
              <RowActions
                of={route.name}
                actions={{
                  Change: mayChange ? () => onAct({ kind: 'change', route }) : undefined,
                  Delete: mayDelete ? () => onAct({ kind: 'delete', route }) : undefined,
                }}
              />
            ),
          },
        ]
      : []),
  ];
}

function nameOf({ virtual_key, model }: { readonly virtual_key: string; readonly model: string }): string {
  return `@${virtual_key}/${model}`;
}

function Targets({ targets }: { readonly targets: readonly string[] }) {
  return (
    <ol>
      {targets.map((target, at) => (
        <li key={at} className="font-mono text-xs">
          {target}
        </li>
      ))}
    </ol>
  );
}

const STATES: Readonly<Record<TargetHealth['state'], readonly [Tone, string]>> = {
  closed: ['good', 'healthy'],
  open: ['bad', 'paused'],
  half_open: ['warn', 'is tried again'],
  limited: ['warn', 'rate limited'],
};

function Health({ route }: { readonly route: ModelRoute }) {
  const health = useQuery({
    ...retrieveModelRouteHealthOptions({ path: { ref: route.id } }),
    refetchInterval: refreshEvery(REFRESH_MS),
  });
  if (health.data === undefined) return <Targets targets={route.targets.map(nameOf)} />;
  return (
    <ol className="space-y-1">
      {health.data.targets.map((target, at) => {
        const [tone, word] = STATES[target.state];
        return (
          <li key={at} className="flex flex-wrap items-center gap-2">
            <span className="font-mono text-xs wrap-anywhere">{nameOf(target)}</span>
            <Badge tone={tone}>
              {word}
              {target.until !== null && (
                <>
                  , tried again <When at={target.until} />
                </>
              )}
            </Badge>
            <Terms route={route} target={route.targets[at]} />
            {target.calls > 0 && (
              <span className="text-xs text-muted">
                {percent(target.failures, target.calls)} of {counted(target.calls, 'call')} failed lately
              </span>
            )}
          </li>
        );
      })}
    </ol>
  );
}

/** Which calls a target takes; nothing for one that takes all. */
function Terms({ route, target }: { readonly route: ModelRoute; readonly target: ModelTarget | undefined }) {
  const terms = target === undefined ? [] : termsOf(target, stepsOf(route.targets));
  const nameIds = useNames(terms);
  if (terms.length === 0) return null;
  return <span className="text-xs wrap-anywhere text-muted">{terms.map(nameIds).join(' · ')}</span>;
}

function termsOf(target: ModelTarget, steps: readonly number[]): readonly string[] {
  const { weight, order, conditions, min_estimated_tokens: least, max_estimated_tokens: most } = target;
  const { min_budget_left: budget, timeout_ms: timeout } = target;
  return [
    ...(steps.length > 1 ? [`step ${steps.indexOf(order) + 1}`] : []),
    ...(weight === null ? [] : [`share ${weight}`]),
    ...conditions.map(({ key, value }) => `${key} is ${[value].flat().join(' or ')}`),
    ...(least === null ? [] : [`from ${counted(least, 'token')}`]),
    ...(most === null ? [] : [`up to ${counted(most, 'token')}`]),
    ...(budget === null ? [] : [`while ${percent(budget, 1)} of the budget is left`]),
    ...(timeout === null ? [] : [`begins within ${timeout / 1_000} s`]),
  ];
}
