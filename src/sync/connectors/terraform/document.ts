/** What Terraform's files become before anything is made of them: resources by address. */

export interface Resource {
  /** As Terraform writes it: `module.web.svc_http_monitor.api["eu"]`. */
  readonly address: string;
  readonly mode: 'managed' | 'data';
  /** With its brand: `svc_http_monitor`. */
  readonly type: string;
  readonly name: string;
  /** Null attributes are left out. What refers to a resource that has no id yet holds its address. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Attributes that are set to something that cannot be seen here. */
  readonly hidden: ReadonlySet<string>;
}

export interface Document {
  readonly resources: readonly Resource[];
  /** What could not be taken, by place. */
  readonly notes: readonly Note[];
}

export interface Note {
  readonly place: string;
  readonly message: string;
}

/** Attributes of components and channels that name other resources, and the types that they may name, without brand. */
export const REFERENCES: Readonly<Record<string, RegExp>> = {
  page_id: /^status_page$/,
  group_id: /^status_page_component_group$/,
  monitor_id: /^([a-z]+_)?monitor$/,
  monitor_ids: /^([a-z]+_)?monitor$/,
};

/** Without what is null. */
export function withoutNulls(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== undefined));
}
