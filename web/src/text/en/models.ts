// models.ts - strings of the room Models.

export const models = {
    title: 'Models',
    intro: 'Small models that were really trained, not staged: each with the command and seed that made it. Try one on a sentence, look into it in Explore, or open one of your own.',
    none: 'This build has no models in it; make explore trains them.',
    names: { whois: 'whois', sense: 'sense', induction: 'induction', trained: 'trained here', file: 'your file' },
    about: {
        whois: {
            task: 'Who is “it”, and of what colour? The adjective decides: a cat can be tired, a mat cannot.',
            learned: 'It learned to look from “it” at the noun that is meant, and to bring its colour along. That takes two layers.',
        },
        sense: {
            task: 'Which meaning of bank, apple, mouse or plant? One word elsewhere in the sentence decides.',
            learned: 'It learned to find the cue: near money a bank is a lender, near water it is a riverside.',
        },
        induction: {
            task: 'Letters that repeat: a b … a, then b. What came after it the last time?',
            learned: 'It learned induction: one layer looks one letter back, the next finds the same letter and what followed.',
        },
    },
    sentences: {
        whois: 'The red cat sat on the blue mat because it was tired.',
        sense: 'the bank near the money and the lamp .',
    },
    facts: {
        parameters: 'Parameters',
        shape: 'Shape',
        shapeIs: (layers: number, heads: number, d: number) => `${layers} layers of ${heads} heads, width ${d}`,
        length: 'Reads',
        lengthIs: (tokens: number, vocabulary: number) => `up to ${tokens} tokens of ${vocabulary} words`,
        size: 'File',
        trained: 'Trained',
        trainedIs: (steps: number, seed: number) => `${steps.toLocaleString('en')} steps, seed ${seed}`,
    },
    choose: 'Try it',
    open: 'Open in Explore',
    try: {
        title: (name: string) => `Try it: ${name}`,
        sentence: 'Sentence',
        count: (n: number, most: number) => `${n} of at most ${most} tokens. Choose the token that is asked.`,
        tokens: 'Tokens',
        notKnown: 'not known',
        empty: 'The sentence is empty: type some words.',
        long: (n: number, most: number) => `${n.toLocaleString('en')} tokens: this model reads at most ${most}.`,
        unknown: 'Words that the model does not know have no numbers: choose from those it knows, below.',
        answer: (word: string) => `Answer at “${word}”`,
        says: (word: string, answer: string) => `At “${word}” the model answers: ${answer}.`,
        knows: (n: number) => `The ${n} words it knows`,
    },
    file: {
        title: 'A model of your own',
        drop: 'Drop a .safetensors file here, or choose one:',
        private: (most: string) =>
            `As written by attn train --save, or by Save weights in Train; up to ${most}. It is read in this page: nothing leaves your browser.`,
        size: 'File',
        tensors: 'Tensors',
        numbers: 'Numbers',
        memory: 'Memory',
        memoryIs: (bytes: string) => `about ${bytes} when open: the file and its weights`,
        list: (n: number, most: number) => `All tensors${n > most ? `, the first ${most} of ${n.toLocaleString('en')}` : ''}`,
        columns: ['name', 'type', 'shape', 'bytes'],
        open: 'Open this model',
        cancel: 'Cancel',
        reading: 'Reading …',
        ready: (name: string) => `${name} has been read.`,
        opened: 'It is open: try it above, or look into it in Explore.',
        foreign: (family: string | undefined, tensors: number, size: string) =>
            `${family ? `This looks like a ${family} model` : 'This is not a model of attn'} (${tensors.toLocaleString('en')} tensors, ${size}). So far only attn’s own small models can be opened: those of attn train --save, or of Save weights in Train.`,
        unreadable: (why: string) => `${why}. Nothing was opened: the file may be cut, or be no safetensors file.`,
        large: (size: string, most: string) => `The file has ${size}; this page opens models up to ${most}.`,
        largeHeader: (size: string, most: string) => `Its header has ${size}; this page reads headers up to ${most}.`,
    },
};
