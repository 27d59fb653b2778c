/// <reference types="astro/client" />

declare namespace App {
  /** What the renderer hands to a route: exactly one view. */
  interface Locals {
    handed: import('./views/html.ts').Handed;
  }
}
