/** Notification channels: what is shown of them, and apart from it where they lead. */

import { type NotificationChannel, toMonitorId } from '../../../model/observation.ts';
import type { ChannelResource } from '../../connector.ts';
import { uniqueById } from '../items.ts';
import { type Document, type Resource, withoutNulls } from './document.ts';
import { factsOf, type Origin, type ProjectFacts } from './facts.ts';
import { textOf } from './identity.ts';
import { blockOf } from './schema.ts';

/** Channels by name, kind and what triggers them; where they lead to is a secret and stays out. */
export function projectChannels(facts: ProjectFacts): NotificationChannel[] {
  return resourcesIn(facts).map((resource) => projectChannel(resource, facts));
}

/** The same with their settings. What only Terraform knows, such as a variable without a value, cannot be seen. */
export function channelResources(document: Document, origin: Origin): readonly ChannelResource[] {
  const facts = factsOf(document, origin);
  const channels = resourcesIn(facts)
    .filter(({ mode }) => mode === 'managed')
    .map((resource): ChannelResource => {
      const channel = projectChannel(resource, facts);
      const block = blockOf(resource.values[channel.kind]);
      const isKnown = typeof block === 'object' && block !== null && !Array.isArray(block);
      return { ...channel, settings: isKnown ? withoutNulls(block as Readonly<Record<string, unknown>>) : null };
    });
  return uniqueById(channels).items;
}

function resourcesIn({ resources }: ProjectFacts): readonly Resource[] {
  return resources.filter(({ type }) => type === 'notification');
}

function projectChannel(resource: Resource, { identities, origin }: ProjectFacts): NotificationChannel {
  const { upstreamId, monitorUpstream } = origin;
  const { values, hidden, name } = resource;
  const listed = values['monitor_ids'];
  const ids = Array.isArray(listed) ? listed.flatMap((id) => identities.referenced(id) ?? []) : [];
  const monitors = ids.toSorted().map((id) => toMonitorId(monitorUpstream ?? upstreamId, id));
  return {
    id: `${upstreamId}/${identities.idOf(resource)}`,
    name: textOf(values['name']) ?? name,
    kind: textOf(values['provider_type']) ?? 'unknown',
    monitors: hidden.has('monitor_ids') ? null : monitors,
  };
}
