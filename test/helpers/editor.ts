/** What an editor with YAML support says of pharos.yaml: the language server that these use, with our schema. */

import { TextDocument } from 'vscode-languageserver-textdocument';
import { getLanguageService } from 'yaml-language-server';
import { configJsonSchema } from '../../scripts/config-schema.ts';
import { CONNECTORS } from '../../src/sync/connectors/index.ts';

const schema = JSON.parse(JSON.stringify(configJsonSchema(CONNECTORS)));
const service = getLanguageService({
  schemaRequestService: () => Promise.resolve(JSON.stringify(schema)),
  workspaceContext: { resolveRelativePath: (path) => path },
});
service.configure({
  validate: true,
  completion: true,
  schemas: [{ uri: 'file:///pharos.schema.json', fileMatch: ['*.yaml'], schema }],
});
/** The server remembers documents by their name. */
let documents = 0;

function openDocument(text: string): TextDocument {
  documents += 1;
  return TextDocument.create(`file:///pharos-${documents}.yaml`, 'yaml', 1, text);
}

/** `line: message`, in the order of the file. */
export async function editorFaults(text: string): Promise<readonly string[]> {
  const found = await service.doValidation(openDocument(text), false);
  return found.map(({ range, message }) => `${range.start.line + 1}: ${message}`);
}

/** What it offers at the end of a text. */
export async function editorSuggestions(text: string): Promise<readonly string[]> {
  const document = openDocument(text);
  const { items } = await service.doComplete(document, document.positionAt(text.length), false);
  return items.map(({ label }) => label);
}
