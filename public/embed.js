// <pharos-status src="https://status.example.com/acme/"></pharos-status>
// The state of a status page as an element: one sentence with a link, and with the attribute `details` also open
// incidents and the components that are not well. Everything fetched is written as text. No data, old data and words
// it does not know show as unknown.
(() => {
  const REFRESH_MS = 60_000;
  // Written in when this file is published: src/publish/files/embed-script.ts.
  const LOOKS = PHAROS_LOOKS;
  const NOT_KNOWN = PHAROS_NOT_KNOWN;
  const STYLE = `
    :host { display: inline-block; font: 14px/1.4 system-ui, sans-serif; color-scheme: light dark; color: light-dark(#1d1f21, #eceae4); }
    :host([theme=light]) { color-scheme: light } :host([theme=dark]) { color-scheme: dark } :host([hidden]) { display: none }
    a { color: inherit; text-decoration: none } a:hover, a:focus-visible { text-decoration: underline }
    .head, li { display: flex; gap: .5em; align-items: center } .head { font-weight: 600 }
    svg { width: 1.15em; height: 1.15em; flex: none } ul { list-style: none; margin: .5em 0 0; padding: 0; display: grid; gap: .3em }`;

  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const shape = (state) => {
    const { solid, outline, sign } = LOOKS[state];
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    const round = { 'stroke-width': 2, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' };
    for (const [name, value] of Object.entries({ viewBox: '0 0 20 20', 'aria-hidden': 'true', ...round }))
      svg.setAttribute(name, value);
    for (const attributes of [
      { d: outline, fill: solid, stroke: solid },
      { d: sign, fill: 'none', stroke: '#fff' },
    ]) {
      const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
      for (const [name, value] of Object.entries(attributes)) path.setAttribute(name, value);
      svg.append(path);
    }
    return svg;
  };
  const known = (state) => (Object.hasOwn(LOOKS, state) ? state : 'unknown');
  const link = (href, text, base) => {
    const url = URL.canParse(href, base) ? new URL(href, base) : null;
    return url !== null && /^https?:$/.test(url.protocol)
      ? element('a', { href: url.href, textContent: text })
      : element('span', { textContent: text });
  };
  const list = (value) => (Array.isArray(value) ? value : []);

  class PharosStatus extends HTMLElement {
    static observedAttributes = ['src', 'details'];
    #timer;
    #turn = 0;

    connectedCallback() {
      if (this.shadowRoot === null) {
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(STYLE);
        this.attachShadow({ mode: 'open' }).adoptedStyleSheets = [sheet];
      }
      this.#timer = setInterval(() => document.hidden || this.refresh(), REFRESH_MS);
      this.refresh();
    }
    disconnectedCallback() {
      clearInterval(this.#timer);
    }
    attributeChangedCallback() {
      if (this.isConnected && this.shadowRoot !== null) this.refresh();
    }

    /** Asks for the state now. Never rejects. */
    async refresh() {
      this.#turn += 1;
      const turn = this.#turn;
      const page = URL.canParse(this.getAttribute('src') ?? '', document.baseURI)
        ? new URL(this.getAttribute('src'), document.baseURI).href.replace(/\/?$/, '/')
        : null;
      let data = null;
      try {
        const response = await fetch(`${page}api/state.json`, {
          credentials: 'omit',
          signal: AbortSignal.timeout(10_000),
        });
        if (response.ok) data = await response.json();
      } catch {
        // No answer is an answer: unknown.
      }
      if (turn === this.#turn) this.#draw(data, page);
    }

    #draw(data, page) {
      const isCurrent = Date.parse(data?.stale_after) > Date.now() && typeof data.sentence === 'string';
      const state = isCurrent ? known(data.state) : 'unknown';
      const sentence = isCurrent && state === data.state ? data.sentence : (NOT_KNOWN[data?.locale] ?? NOT_KNOWN.en);
      const head = element(
        'div',
        { className: 'head', dir: 'auto' },
        shape(state),
        link(page ?? '', sentence, page ?? undefined),
      );
      head.setAttribute('role', 'status');
      const rows = isCurrent && this.hasAttribute('details') ? this.#details(data, page) : [];
      this.setAttribute('state', state);
      this.shadowRoot.replaceChildren(head, ...(rows.length > 0 ? [element('ul', {}, ...rows)] : []));
    }

    #details(data, page) {
      const incidents = list(data.open_incidents).map(({ title, url }) =>
        element('li', { dir: 'auto' }, link(url, `${title}`, page)),
      );
      const troubled = list(data.components).filter(({ state }) => state !== 'operational');
      return [
        ...incidents,
        ...troubled.map(({ name, state, state_text }) =>
          element('li', { dir: 'auto' }, shape(known(state)), `${name}: ${state_text ?? state}`),
        ),
      ];
    }
  }
  if (!customElements.get('pharos-status')) customElements.define('pharos-status', PharosStatus);
})();
