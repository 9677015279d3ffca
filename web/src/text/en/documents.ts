// documents.ts - what `attn verify` finds in the documents: its sentence, which tests/book/test_count.py compares with
// that of the command, the report and README.md.

export const documents = {
    count: '116 statements of the documents tested: 43 are wrong, 10 of them only because of another error.',
    shown: (command: string) => `${command} shows all of them.`,
};
