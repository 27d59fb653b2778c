/** What a JSON Schema asks for where some keys are there and match; `otherwise` where one is not. Editors explain it by the key. */
export function when(keys: Readonly<Record<string, object>>, asked: object, otherwise?: object) {
  const condition = { required: Object.keys(keys), properties: keys };
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  return { if: condition, then: asked, ...(otherwise === undefined ? {} : { else: otherwise }) };
}
