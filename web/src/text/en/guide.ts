// guide.ts - strings of the tour, the slides and the help.

export const tour = {
    title: (k: number, n: number) => `Tour, ${k} of ${n}`,
    back: 'Back',
    next: 'Next',
    done: 'Done',
    end: 'End the tour',
    stops: [
        'How do words look at each other? We begin with a question: what does “it” mean? A tiny model trained to answer it does so below.',
        'Rows are queries, columns are keys, and each row sums to 1. Click a row, or use the arrow keys and Enter, to see where it looks.',
        'One adjective changed, and “it” looks elsewhere. The URL stores everything you set: Share copies it, Undo takes a change back.',
        'Steps shows every number along the way. Type over an input, and everything that depends on it is recomputed.',
        'Train: press Play, and a transformer learns in your browser. Remove a layer, and it cannot.',
        'Models: the trained models that come with the page, and files of your own, which never leave your browser.',
        'Cost: twice the text is four times the work. See where quadratic growth begins to hurt.',
        'This card explains what you see, suggests things to try and asks questions. After a wrong answer, the room shows why it is wrong. Have fun.',
    ],
};

export const slides = {
    of: (k: number, n: number) => `Slide ${k} of ${n}`,
    deckOf: 'Slides',
    takeaway: 'Key takeaway',
    back: 'Previous slide',
    next: 'Next slide',
    end: 'End',
    deck: [
        ['What does “it” mean?', 'What a word means depends on the words around it. Attention says how much it takes from each of them. This model learned its weights by training.'],
        ['Three projections', 'A token looks for one thing, is found by another and passes on a third: query, key and value. All three matrices are learned.'],
        ['The dot product', 'A score is a sum of products, large where query and key point in the same direction. There is one for every pair, and all are computed at once.'],
        ['Scaling', 'The variance of q·k is d_k; after division by √d_k it is 1 for every d_k. Unscaled, 0.993 of this row goes to one key; scaled, 0.631.'],
        ['The mask', 'Scores that must not be seen are set to minus infinity before softmax. With a causal mask, position i sees positions 1 to i, never the future.'],
        ['Softmax', 'The numbers in each row become positive and sum to 1. Only differences between scores count; temperature sharpens or flattens the row.'],
        ['Heads', 'Several attentions run at once, each with its own matrices and each free to look for something different.'],
        ['Training', 'From random numbers to the right answer in seconds. Two layers are needed: one to read the adjective, one to find the noun.'],
        ['Cost', 'There are n² pairs: twice the text is four times the work. At n = 4096 and d = 64 the weights would be 94.1 % of the memory; computing by tiles never stores them.'],
        ['Limits', 'No order without positions: shuffled words give shuffled rows. The number of pairs grows quadratically. And one layer is not enough.'],
    ],
};

export const keys = {
    single: 'Enable single-key shortcuts',
    rows: [
        ['?', 'show this list'],
        ['1, 2, 3 …', 'go to a room'],
        ['T', 'start the tour'],
        ['P', 'present: slides for a lecture'],
        ['G', 'open the glossary'],
    ],
    others: [
        ['Ctrl+Z, Ctrl+Y', 'undo, redo'],
        ['← →', 'in Steps: back and next; in the tour: previous and next stop'],
        ['← → ↑ ↓ Home End', 'in a matrix: move; with Ctrl, to a corner'],
        ['Enter, Esc', 'in a matrix: pin or edit the cell; cancel'],
        ['← →, PageUp PageDown', 'while presenting: previous and next slide (a clicker works too)'],
        ['Esc', 'end the tour, the slides or a dialog'],
    ],
};
