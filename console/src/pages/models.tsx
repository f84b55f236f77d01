import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Page } from '../components/page';
import { Tabs } from '../components/tabs';
import { Button } from '../components/ui/button';
import { useListSearch } from '../lib/list-search';
import { useLogin } from '../lib/login-context';
import { ModelCatalogue } from './model-catalogue';
import { ModelRouteForm } from './model-route-form';
import { ModelRoutes } from './model-routes';
import { NewPrice } from './new-price';
import { Prices } from './prices';

const INTROS: Readonly<Record<string, string>> = {
  routes:
    'A model route is a name that leads to models of virtual keys. When a target fails, the next one takes the call.',
  catalogue: 'What the models of providers read and write, and what they cost. Calls may name other models as well.',
  prices:
    'What a unit of a model costs, who says so, and since when. Your own prices take precedence over the built-in ones.',
};

/** The action that creates something, for the views that have one. */
const NEWS: Readonly<Record<string, string>> = { routes: 'New route', prices: 'New price' };

export function ModelsPage() {
  const { caller, may } = useLogin();
  const list = useListSearch();
  const [isCreating, setCreating] = useState(false);
  const views = {
    routes: 'Routes',
    ...(may('prices.list') && { catalogue: 'Catalogue', prices: 'Prices' }),
  };
  const view = list.view !== undefined && list.view in views ? list.view : 'routes';
  const mayMake = view === 'routes' ? may('model_routes.create') : may('prices.create') && caller.workspace_id === null;
  const news = mayMake ? NEWS[view] : undefined;
  return (
    <Page
      title="Models"
      intro={INTROS[view]}
      actions={
        news !== undefined && (
          <Button kind="main" onClick={() => setCreating(true)}>
            <Plus aria-hidden className="size-4" />
            {news}
          </Button>
        )
      }
    >
      <Tabs label="Views of the models" views={views} view={view} />
      {view === 'routes' && <ModelRoutes />}
      {view === 'catalogue' && <ModelCatalogue />}
      {view === 'prices' && <Prices />}
      {isCreating && view === 'routes' && <ModelRouteForm onClose={() => setCreating(false)} />}
      {isCreating && view === 'prices' && <NewPrice onClose={() => setCreating(false)} />}
    </Page>
  );
}
