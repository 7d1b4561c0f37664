import { defineConfig } from 'eslint/config'
import tseslint from 'typescript-eslint'

export default defineConfig(
  { ignores: ['dist', 'node_modules', '.tabwire'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['src/**/*.{ts,tsx}', 'test/**/*.ts', '*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['test/tsconfig.json', 'src/pages/browser/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      // A template is for people; numbers and booleans in one are what was meant.
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      // `({ secret: _secret, ...rest })` is how a field is left out.
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      // An arrow that calls a void function for its effect reads better without braces.
      '@typescript-eslint/no-confusing-void-expression': 'off',
      // `() => {}` is the one way to say that nothing is done.
      '@typescript-eslint/no-empty-function': 'off',
      // An async handler without an await keeps the shape of its neighbours.
      '@typescript-eslint/require-await': 'off',
      // Objects here are made of closures: none of their functions has a `this` to lose.
      '@typescript-eslint/unbound-method': 'off',
      // What another callback changes while this one awaits looks constant to it, and so does what types promise of Node.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      // Fetch's classes come from the platform, from h3 and from undici; their shape is what counts.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // There are no enums here: erasableSyntaxOnly forbids them.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-unsafe-enum-comparison': 'off',
      'no-console': 'error',
      eqeqeq: 'error',
    },
  },
  { files: ['**/*.js'], rules: { 'no-console': 'error', eqeqeq: 'error' } },
)
