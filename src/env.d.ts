/// <reference types="astro/client" />

/** Colours of the pages, made of src/looks by astro.config.mjs. */
declare module 'virtual:looks.css';

declare namespace App {
  /** What the renderer hands to a route: exactly one view. */
  interface Locals {
    handed: import('./views/html.ts').Handed;
  }
}
