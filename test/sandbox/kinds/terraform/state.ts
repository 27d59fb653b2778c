/** A Terraform state over HTTP: raw as a state back end keeps it, and as `terraform show -json` prints it. */

import { noiseHex } from '../../../../src/sandbox/services.ts';
import { bearerToken, json, type Request, type Upstream } from '../../exchange.ts';
import { noiseUuid } from '../../noise-uuid.ts';
import type { World } from '../../world.ts';
import { type Resource, terraformResources } from './resources.ts';

interface TerraformOptions {
  readonly world: World;
  readonly token: string;
}

const TERRAFORM_VERSION = '1.9.8';

type View = (world: World, brand: string) => unknown;

const VIEWS: ReadonlyMap<string, View> = new Map([
  ['state', rawState],
  ['show', shown],
]);

/** `/state` and `/show` with `svc_*` resources; the same below `/openstatus` with that provider's types. */
export function createBackend({ world, token }: TerraformOptions): Upstream {
  return (request) => {
    const [, brand = 'svc', name = ''] = /^(?:\/(openstatus))?\/(state|show)$/.exec(request.path) ?? [];
    const view = VIEWS.get(name);
    if (view === undefined) return json(404, { error: 'Not found' });
    if (!isAllowed(request, token)) return json(401, { error: 'Unauthorized' }, { 'www-authenticate': 'Basic' });
    // Locking and writing are for those who apply; here is only something to read.
    if (request.method !== 'GET') return json(405, { error: 'Method not allowed' }, { allow: 'GET' });
    return json(200, view(world, brand));
  };
}

/** The token as a bearer, or as the password of basic authentication, which Terraform's own client uses. */
function isAllowed({ headers }: Request, token: string): boolean {
  if (bearerToken(headers) === token) return true;
  const basic = /^Basic (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
  return Buffer.from(basic, 'base64').toString('utf8').endsWith(`:${token}`);
}

function rawState(world: World, brand: string): unknown {
  return {
    version: 4,
    terraform_version: TERRAFORM_VERSION,
    serial: 12,
    lineage: noiseUuid(world.seed, 'lineage'),
    outputs: {},
    resources: resourcesOf(world, brand).map(({ mode, type, name, values, sensitive }) => ({
      mode,
      type,
      name,
      provider: providerOf(brand),
      instances: [
        {
          schema_version: 0,
          attributes: values,
          sensitive_attributes: sensitive.map((path) =>
            path.split('.').map((value) => ({ type: /^\d+$/.test(value) ? 'index' : 'get_attr', value })),
          ),
        },
      ],
    })),
    check_results: null,
  };
}

function shown(world: World, brand: string): unknown {
  const resources = resourcesOf(world, brand).map(({ mode, type, name, values, sensitive }) => ({
    address: `${mode === 'data' ? 'data.' : ''}${type}.${name}`,
    mode,
    type,
    name,
    provider_name: providerOf(brand).slice('provider["'.length, -'"]'.length),
    schema_version: 0,
    values,
    sensitive_values: Object.fromEntries(sensitive.map((path) => [path.split('.')[0] ?? path, true])),
  }));
  return { format_version: '1.0', terraform_version: TERRAFORM_VERSION, values: { root_module: { resources } } };
}

function resourcesOf(world: World, brand: string): readonly Resource[] {
  const secret = (name: string): string => `sandbox-${name}-${noiseHex(16, world.seed, 'terraform', name)}`;
  return terraformResources(world, secret).map((resource) => ({ ...resource, type: `${brand}_${resource.type}` }));
}

function providerOf(brand: string): string {
  return `provider["terraform.acme.example/acme/${brand}"]`;
}
