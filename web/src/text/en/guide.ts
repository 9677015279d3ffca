// guide.ts - strings of tour, slides and help.

export const tour = {
    title: (k: number, n: number) => `Tour, ${k} of ${n}`,
    back: 'Back',
    next: 'Next',
    done: 'Done',
    end: 'End the tour',
    stops: [
        'How do words look at each other? We begin with a question: what does “it” mean? A tiny model, trained for it, answers below.',
        'Rows ask, columns are looked at, each row sums to 1. Click a row, or use arrow keys and Enter, to see where it looks.',
        'One adjective changed, and “it” looks elsewhere. Everything you set is in the address: Share copies it, Undo takes it back.',
        'Steps shows every number on the way. Type over one that is given, and all others follow.',
        'Train: press Play, and a transformer learns here. Remove a layer, and it cannot.',
        'Models: trained ones that came with the page, and files of your own, which stay in your browser.',
        'Cost: twice the text, four times the work. See where the square begins to hurt.',
        'This card explains what you see, offers things to try and asks. A wrong answer shows why, in the room. Have fun.',
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
        ['What does “it” mean?', 'A word means what the words around it make of it. Attention says how much it takes from each. This model was trained to.'],
        ['Three projections', 'A token looks for one thing, is found by another and hands over a third: query, key, value. Three matrices, learned.'],
        ['The dot product', 'A score is a sum of products: large where query and key point the same way. One for every pair, all at once.'],
        ['Scaling', 'The variance of q·k is d_k. Divided by √d_k it is 1, for every d_k. Unscaled, 0.993 of this row goes to one key; scaled, 0.631.'],
        ['The mask', 'What must not be seen gets minus infinity, before softmax. Causal: position i sees 1 to i, never the future.'],
        ['Softmax', 'Each row becomes positive and sums to 1. Differences decide; temperature sharpens or flattens.'],
        ['Heads', 'Several attentions at once, each with its own matrices, each free to look for something else.'],
        ['Training', 'From random numbers to the right answer in seconds. Two layers are needed: one to read the adjective, one to find the noun.'],
        ['Cost', 'n² pairs: twice the text, four times the work. At n = 4096, d = 64 the weights would be 94.1 % of the memory; tiles never store them.'],
        ['Limits', 'No order without positions: shuffled words give shuffled rows. A square of pairs. One layer is not enough.'],
    ],
};

export const keys = {
    single: 'Single keys work',
    rows: [
        ['?', 'these keys'],
        ['1 … 5', 'the rooms'],
        ['T', 'the tour'],
        ['P', 'present: slides for a lecture'],
        ['G', 'the glossary'],
    ],
    others: [
        ['Ctrl+Z, Ctrl+Y', 'undo, redo'],
        ['← →', 'in Steps: back and next; in a tour: the stops'],
        ['← → ↑ ↓ Home End', 'in a matrix: move; with Ctrl to its corner'],
        ['Enter, Esc', 'in a matrix: pin or change the cell, let go'],
        ['← →, PageUp PageDown', 'while presenting: the slides, also by a clicker'],
        ['Esc', 'ends tour, slides and dialogs'],
    ],
};
