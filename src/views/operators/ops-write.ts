/** Where operators write: what is open on a page, one form, and what it would do before it is sent. In English. */

import { buildPlainShell } from '../frame/shell.ts';
import type { PickerView } from '../picker.ts';

export interface Choice {
  readonly text: string;
  readonly href: string;
  readonly isCurrent: boolean;
}

export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly type: 'text' | 'area' | 'select' | 'time' | 'check';
  /** Of a box: `true` when it is ticked. */
  readonly value: string;
  /** Of a select. */
  readonly options?: readonly { readonly value: string; readonly text: string }[];
  readonly isRequired?: boolean;
  readonly hint?: string;
  readonly fault: string | null;
}

export interface OpenStory {
  readonly title: string;
  readonly facts: string;
  readonly note: string | null;
  /** Where it is changed, or read if it comes from elsewhere; null: it is only taken away. */
  readonly href: string | null;
  /** Null: it comes from elsewhere and is only shown here. */
  readonly own: {
    readonly id: string;
    readonly version: number;
    /** Whether the page, now public, doesn't show it, because it was private when this was written. */
    readonly isHidden: boolean;
    /** What the button that takes it away or back says. */
    readonly removal: string;
  } | null;
}

export type OpsWriteView = ReturnType<typeof opsWriteView>;

interface OpsWriteInit {
  readonly notice: string | null;
  /** What is wrong with what was sent; empty: nothing. */
  readonly faults: readonly string[];
  readonly page: string;
  readonly pages: readonly Choice[];
  readonly kinds: readonly Choice[];
  readonly templates: readonly Choice[];
  readonly open: readonly OpenStory[];
  readonly form: {
    readonly heading: string;
    readonly hidden: readonly { readonly name: string; readonly value: string }[];
    readonly fields: readonly FormField[];
    /** Null: what is written names none. */
    readonly components: PickerView | null;
    /** Whom it reaches. */
    readonly last: readonly FormField[];
    /** What its main button says. */
    readonly publish: string;
    /** False: it is published already, or cannot be a draft. */
    readonly canDraft: boolean;
  };
  readonly formToken: string;
  /** Null: it was not asked for. */
  readonly preview: {
    readonly src: string;
    readonly colours: readonly string[];
    readonly told: string;
  } | null;
}

/** The page of an address below `/-/ops`. */
export function opsWriteView(view: OpsWriteInit) {
  return {
    ...view,
    shell: buildPlainShell({ locale: 'en', title: 'Write', siteTitle: null, base: '../../' }),
    heading: 'Incidents and maintenance',
  };
}
