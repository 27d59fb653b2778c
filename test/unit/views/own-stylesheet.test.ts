import { describe, expect, it } from 'vitest';
import { STYLESHEET_BYTES_MAX, stylesheetFault } from '../../../src/views/frame/own-stylesheet.ts';
import { themeStyle } from '../../../src/views/frame/theme.ts';

describe('a style sheet of the operator’s own', () => {
  it.each([
    'h1{letter-spacing:-.03em}',
    '/* @import "x"; url(https://a.example) { */ h1 { color: red }',
    '@media (width < 40rem) { .row { color: red; &:hover { color: blue } } }',
    '.x::before { content: "\\2014 url(https://a.example) @import {" }',
    '.x { background: url(data:image/png;base64,AAAA) }',
    ".x { background: url('/assets/ground.svg') }",
    '.x { fill: url(#gradient) }',
    '.banner > .image-frame { color: red }',
    '@supports (display: grid) { .x { color: red } }',
    '',
  ])('may say %j', (text) => {
    expect(stylesheetFault(text)).toBeNull();
  });

  it.each([
    ['h1{}\n@import "https://a.example/x.css";', 2, '@import is not allowed; put its rules here instead'],
    ['@IMPORT url(/x.css);', 1, '@IMPORT'],
    ['@font-face { font-family: x; src: url(/assets/x.woff2) }', 1, 'pages never load fonts'],
    ['\n\n.x { background: url(https://a.example/x.png) }', 3, 'url(https://a.example/x.png) is neither'],
    ['.x { background: url( "//a.example/x.png" ) }', 1, 'is neither'],
    ['.x { background: URL(x.png) }', 1, 'is neither'],
    ['.x { background: url("data:text/html,x") }', 1, 'is neither'],
    ['.x { background: image-set("https://a.example/x.png" 1x) }', 1, 'image-set( is not allowed'],
    ['.x { background: \\75 rl(https://a.example) }', 1, 'backslashes'],
    ['.x { background: u/**/rl(https://a.example) }', 1, null],
    ['.x { background: url(https://a.example/(x) }', 1, 'url( is not allowed'],
    ['</style><script>alert(1)</script>', 1, '</ would end'],
    ['<!-- h1{} -->', 1, '<! would end'],
    ['h1 { color: red', 1, 'a { is not closed'],
    ['h1 { color: red }\n}', 2, 'a } closes nothing'],
    ['.x::before { content: "x\n }', 1, 'a quote is not closed'],
    ['h1 {} /* and no end', 1, '/* is not allowed'],
    [`h1{color:red}${' '.repeat(STYLESHEET_BYTES_MAX)}`, 1, 'larger than 16 KiB'],
  ] as const)('may not say %j', (text, line, message) => {
    const fault = stylesheetFault(text);
    // `u/**/rl(` is two names to a browser: nothing that loads.
    if (message === null) return expect(fault).toBeNull();
    expect(fault).toMatchObject({ line, message: expect.stringContaining(message) });
    expect(themeStyle({ accentColor: null, cssVariables: {}, look: { stylesheet: text } })).toBeNull();
  });
});
