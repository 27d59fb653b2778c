/** The pages by which visitors subscribe to a status page, confirm that it was them, choose, pause and leave. */

import { fillPieces, type LocalText, toPiece } from '../../model/translated.ts';
import { buildPlainShell } from '../frame/shell.ts';
import { type LoginForm, loginField } from '../login/login.ts';
import { type PickerGroup, type PickerView, pickerView } from '../picker.ts';
import { fill, findWords, type Words } from '../words/index.ts';

/**
 * `ask`: the form. `sent`: the same answer to any address. `confirm` and `leave`: a mailed link was opened, and a button
 * does what it is for. `manage`: what a subscription is, with all that can be changed.
 */
type SubscribeStep = 'ask' | 'sent' | 'confirm' | 'confirmed' | 'manage' | 'leave' | 'left' | 'expired';
type SubscribeFault = 'limited' | 'invalid' | 'refused';

export interface SubscribeInit {
  readonly step: SubscribeStep;
  readonly fault: SubscribeFault | null;
  /** Of the wait (`limited`). */
  readonly minutes: number;
  readonly locale: string;
  /** Of the status page; null: it is not there any more. */
  readonly title: LocalText | null;
  readonly base: string;
  /** Of the mailed link; empty: none was. */
  readonly token: string;
  /** What was typed into the form before, as it is shown again. */
  readonly email?: string;
  readonly components: readonly SubscribeComponent[];
  /** `stopped`: its owner may not see the page as things are. */
  readonly state: 'active' | 'paused' | 'stopped';
  readonly isSaved: boolean;
}

interface SubscribeComponent extends PickerGroup {
  readonly group?: PickerGroup | null;
  readonly isChosen: boolean;
}

interface SubscribeForm extends LoginForm {
  readonly components: PickerView | null;
}

const FAULT_WORDS = {
  limited: 'loginLimited',
  invalid: 'loginInvalid',
  refused: 'loginRefused',
} as const satisfies Record<SubscribeFault, keyof Words>;

const HEADINGS = {
  ask: 'subscribeTitle',
  sent: 'loginSentTitle',
  confirm: 'subscribeConfirmTitle',
  confirmed: 'subscribeConfirmed',
  manage: 'subscribeManage',
  leave: 'subscribeLeave',
  left: 'subscribeLeft',
  expired: 'subscribeTitle',
} as const satisfies Record<SubscribeStep, keyof Words>;

const BODIES: Readonly<Partial<Record<SubscribeStep, keyof Words>>> = {
  ask: 'subscribeBody',
  sent: 'subscribeSent',
  confirm: 'subscribeConfirmBody',
  leave: 'subscribeLeaveBody',
  expired: 'subscribeExpired',
};

export type SubscribeView = ReturnType<typeof subscribeView>;

export function subscribeView(init: SubscribeInit) {
  const { step, locale, title, base, fault } = init;
  const words = findWords(locale);
  const heading = words[HEADINGS[step]];
  return {
    shell: {
      ...buildPlainShell({
        locale,
        title: title === null ? heading : `${heading} · ${title.text}`,
        siteTitle: title?.text ?? null,
        base,
      }),
      titleLang: title?.lang,
    },
    heading,
    body: bodyText(init, words),
    fault: fault === null ? null : fill(words[FAULT_WORDS[fault]], { minutes: init.minutes }),
    forms: listForms(init, words),
    link: nextLink(init, words),
  };
}

function bodyText({ step, state, isSaved }: SubscribeInit, words: Words): string | null {
  if (step !== 'manage') {
    const key = BODIES[step];
    return key === undefined ? null : String(words[key]);
  }
  const sentences = [
    ...(isSaved ? [words.subscribeSaved] : []),
    ...(state === 'paused' ? [words.subscribePaused] : []),
    ...(state === 'stopped' ? [words.subscribeRecheck] : []),
  ];
  return sentences.length === 0 ? null : sentences.join(' ');
}

function listForms(init: SubscribeInit, words: Words): readonly SubscribeForm[] {
  const { step, base, token, state } = init;
  const form = (path: string, submit: string, action?: string): SubscribeForm => ({
    action: `${base}subscribe/${path}`,
    body: null,
    hidden: [
      ...(token === '' ? [] : [{ name: 'token', value: token }]),
      ...(action === undefined ? [] : [{ name: 'action', value: action }]),
    ],
    username: null,
    field: null,
    components: null,
    submit,
  });
  const components = init.components.length < 2 ? null : componentPicker(init.components, words);
  const leave = form('leave/', words.subscribeLeave);
  if (step === 'ask') {
    const field = loginField('email', words.loginEmail, init.fault === 'invalid', init.email);
    return [{ ...form('', words.subscribe), field, components }];
  }
  if (step === 'confirm') return [form('confirm/', words.subscribeConfirm)];
  if (step === 'leave') return [leave];
  if (step !== 'manage') return [];
  const resume = form('manage/', words.subscribeResume, 'resume');
  if (state === 'stopped') return [resume, { ...leave, body: words.subscribeLeaveBody }];
  return [
    ...(components === null ? [] : [{ ...form('manage/', words.subscribeSave, 'save'), components }]),
    state === 'paused' ? resume : form('manage/', words.subscribePause, 'pause'),
    { ...leave, body: words.subscribeLeaveBody },
  ];
}

function componentPicker(components: readonly SubscribeComponent[], words: Words): PickerView {
  return pickerView(components, {
    legend: words.subscribeComponents,
    search: words.filter,
    itemFor: ({ isChosen, ...one }) => ({ name: 'component', label: [toPiece(one)], value: one.id, isChosen }),
    wholeFor: (group) => ({
      name: 'group',
      label: fillPieces(words.wholeGroup, { name: [toPiece(group)] }),
      value: group.id,
      isChosen: false,
    }),
  });
}

function nextLink({ step, base, token }: SubscribeInit, words: Words) {
  if (step === 'confirmed') return { href: `${base}subscribe/manage/?token=${token}`, text: words.subscribeManage };
  if (step === 'expired' || step === 'left') return { href: `${base}subscribe/`, text: words.subscribeTitle };
  return null;
}
