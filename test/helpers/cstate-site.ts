/** A cState site with an issue of each form that its makers' own example has, in words of our own. */

const CONFIG = `title: Harbour Status
languageCode: en
baseURL: https://status.harbour.example
params:
  description: How the harbour is doing.
  categories:
    - name: Quays
      description: Where ships are.
      closed: true
      untitled: false
    - name: Everything else
      untitled: true
  systems:
    - { name: North quay, category: Quays }
    - { name: South quay, category: Quays, description: Shallow at low tide. }
    - { name: Website, category: Everything else, link: "https://harbour.example/" }
    - { name: API, category: Everything else }
theme: cstate
`;

const issue = (matter: string, body: string): string => `---\n${matter}\nsection: issue\n---\n\n${body}\n`;

/** The issues by the names of their files. */
export const CSTATE_ISSUES: Readonly<Record<string, string>> = {
  // Updates without times.
  '2019-02-01-letters.md': issue(
    'title: Letters are late\ndate: 2019-01-30 16:24:00\nresolved: true\nresolvedWhen: 2019-02-01 16:58:00\nseverity: disrupted\naffected:\n  - API',
    '*Update* - Over.\n\n*Investigating* - Letters do not leave.',
  ),
  // A postmortem above updates with times, the newest first.
  '2019-04-13-crane.md': issue(
    'title: Crane & rails\ndate: 2019-04-13 15:54:00\nresolved: true\nresolvedWhen: 2019-04-13 17:30:00\nseverity: down\naffected: [API, North quay]',
    `*Post-mortem*

A bolt was loose.

---

*Update* - It turns again. {{< track "2019-04-13 17:30:00" >}}

*Monitoring* - It moves slowly. {{< track "2019-04-13 16:50:00" >}}

*Investigating* - The crane stands. {{< track "2019-04-13 15:54:00" >}}`,
  ),
  // Times of updates that are not between beginning and end.
  '2019-05-25-fog.md': issue(
    'title: Fog\ndate: 2019-04-25 04:13:00\nresolved: true\nresolvedWhen: 2019-04-25 04:13:59\nseverity: down\naffected:\n  - API\n  - North quay',
    '*Resolved* -\nThe fog is gone. {{< track "2019-05-25 05:54:00" >}}\n\n*Investigating* - There is fog. {{< track "2019-05-25 04:13:00" >}}',
  ),
  '2020-10-08-rails.md': issue(
    'title: New rails\ndate: 2020-10-05 16:24:00 \nresolved: true\nresolvedWhen: 2020-10-05 16:58:00 \nseverity: disrupted\naffected:\n  - API',
    'Wagons may wait.',
  ),
  // Informational: never open.
  '2023-04-16-paint.md': issue(
    'title: New paint\ndate: 2023-04-16T18:34:00Z\ninformational: true',
    '**Blue** now.\n\n---\n\n```\n{{< track "not a time" >}} stays, since it is code\n```',
  ),
  '2024-02-24-night.md': issue(
    'title: A quiet night\ndate: 2024-02-24 10:35:00\nresolvedWhen: 2024-02-24 11:35:00\naffected:\n  - API\nresolved: true\nseverity: notice',
    'Nothing moves at night.',
  ),
  '2024-05-23-meeting.md': issue(
    'title: A meeting\ndate: 2024-02-24 10:35:00\ninformational: true\npin: false',
    'On Monday.',
  ),
  // Updates of one time, the oldest first.
  '2024-07-23-gulls.md': issue(
    'title: Gulls\ndate: 2024-07-23 10:35:00\nresolved: true\nresolvedWhen: 2024-07-23 10:38:00\nseverity: down\naffected:\n  - API\npin: false',
    `Gulls everywhere. {{< track "2024-07-23 10:35:00" >}}

---

*Investigating* - We count them.
{{< track "2024-07-23 10:35:00" >}}

---

*Fixed* - They left. {{< track "2024-07-23 10:35:00" >}}`,
  ),
  '2024-12-24-show.md': issue(
    'title: A show\ndate: 2024-12-24 10:35:00\nresolvedWhen: 2024-12-24 13:35:00\naffected:\n  - South quay\nresolved: true\nseverity: disrupted',
    'Come and see.\n\nIt is free.',
  ),
  // Open, with milliseconds and quotes.
  '2024-12-27-mooring.md': issue(
    'title: "Mooring API error!"\ndate: 2024-12-27T09:43:40.482Z\nresolved: false\nseverity: "down"\naffected: ["API"]\nid: "mooring"',
    '*Somebody is on the way.* {{< track "2024-12-27T09:44:00.481Z" >}}\n\n**Alert** - Lines are slack. {{< track "2024-12-27T09:43:40.482Z" >}}',
  ),
  'i-try-things.md': issue('title: Trying things\ndate: 2019-10-04 18:05:00\ninformational: true', 'One, two.'),
};

/** Every file of the site by its path. */
export const CSTATE_FILES: Readonly<Record<string, string>> = {
  'config.yml': CONFIG,
  'content/pages/about.md': '---\ntitle: About\n---\nWe are a harbour.\n',
  'content/issues/.gitkeep': '',
  'content/affected/api/_index.md': '---\ntitle: API\n---\nIts page.\n',
  ...Object.fromEntries(Object.entries(CSTATE_ISSUES).map(([name, text]) => [`content/issues/${name}`, text])),
};
