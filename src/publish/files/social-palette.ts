/** The colours of social images: those of the pages. */

import type { State } from '../../model/index.ts';

interface Look {
  readonly background: string;
  readonly ink: string;
}

export interface SocialPalette {
  readonly paper: string;
  readonly ink: string;
  readonly quiet: string;
  readonly line: string;
  /** Of the head of the image, by state. */
  readonly header: Readonly<Record<State, Look>>;
  readonly state: Readonly<Record<State, string>>;
}

export const LIGHT: SocialPalette = {
  paper: '#fcfbf8',
  ink: '#1d1f21',
  quiet: '#575b5f',
  line: '#e3e1da',
  header: {
    operational: { background: '#e4f1e8', ink: '#0f3d25' },
    degraded: { background: '#faefd2', ink: '#4a3000' },
    partial_outage: { background: '#fce4d4', ink: '#5a2305' },
    major_outage: { background: '#b3182a', ink: '#ffffff' },
    maintenance: { background: '#e2ecfb', ink: '#123264' },
    paused: { background: '#ecebe6', ink: '#303336' },
    unknown: { background: '#ecebe6', ink: '#303336' },
  },
  state: {
    operational: '#2b8a57',
    degraded: '#b07206',
    partial_outage: '#c4500f',
    major_outage: '#c01f2f',
    maintenance: '#2f6fce',
    paused: '#7b7f83',
    unknown: '#7b7f83',
  },
};

export const DARK: SocialPalette = {
  paper: '#16181a',
  ink: '#eceae4',
  quiet: '#a9acae',
  line: '#33373a',
  header: {
    operational: { background: '#16281f', ink: '#c9efd9' },
    degraded: { background: '#2d2511', ink: '#fae3ae' },
    partial_outage: { background: '#331f13', ink: '#ffd5bb' },
    major_outage: { background: '#6f0f1b', ink: '#ffffff' },
    maintenance: { background: '#172437', ink: '#cfe1ff' },
    paused: { background: '#222527', ink: '#dcdcd8' },
    unknown: { background: '#222527', ink: '#dcdcd8' },
  },
  state: {
    operational: '#4fbd84',
    degraded: '#e2ad3f',
    partial_outage: '#f0874a',
    major_outage: '#f4676f',
    maintenance: '#7aacf4',
    paused: '#8d9194',
    unknown: '#8d9194',
  },
};
