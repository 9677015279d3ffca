// teach.ts - strings that explain the rooms: story, side card and quiz.

export const teach = {
    about: 'What you see here',
    tryThis: 'Try this',
    tour: 'Tour',
    glossary: 'Glossary',
    keys: 'Keys',
    close: 'Close',
    story: {
        title: 'What does “it” mean?',
        before: 'The cat sat on the mat because ',
        it: 'it',
        was: ' was ',
        tired: 'tired',
        dirty: 'dirty',
        after: '.',
        flip: 'How was it?',
        look: {
            tired: 'Cats get tired, so “it” is the cat; below, “it” looks most at “cat”. Now press “dirty”.',
            dirty: 'Mats get dirty, so “it” is the mat. One word changed, and “it” looks elsewhere.',
            other: 'Press a word and see below where “it” looks.',
        },
        trained: 'A tiny model was trained for this. How?',
        how: [
            'By ',
            'attn train whois',
            ': made-up sentences, 64 at a time, some hundred times; each time it had to say which noun “it” is and its colour, if it has one, and its numbers were corrected. Then it was right about sentences it had never seen. In Train you can watch one learn. Nothing here can break: Undo takes everything back.',
        ],
    },
    /** Collapsed below the card; a line that begins with $ is a formula. */
    more: {
        scaled: {
            title: 'Why the variance is d_k',
            lines: [
                'Let all components of q and k be independent, with mean 0 and variance 1. One product then has mean 0 and variance',
                '$Var(q_i k_i) = E (q_i^2) E (k_i^2) = 1',
                'The score is the sum of d_k such products, and variances of independent numbers add up:',
                '$Var(q · k) = sum_i Var(q_i k_i) = d_k',
                'Dividing a number by c divides its variance by c². So dividing by √d_k gives variance 1 at any size; no scaling leaves d_k; dividing by d_k leaves',
                '$1 / d_k',
            ],
        },
        masked: {
            title: 'When to mask',
            lines: [
                'BERT, which reads whole texts, uses no mask. GPT, which predicts the next word, uses a causal mask. T5 uses none in its encoder and a causal one in its decoder, which also reads all of the encoder.',
                'Padding is always masked: it is not a word.',
            ],
        },
        output: {
            title: 'Self-attention and cross-attention',
            lines: [
                'Here queries, keys and values come from the same tokens: self-attention.',
                'In cross-attention the queries come from one text and the keys and values from another: the French “chat” is the query, the English “cat” has the key and the value. The queries can also come from a picture, and the keys and values from its caption. The arithmetic is the same.',
            ],
        },
    } as Record<string, { title: string; lines: string[] }>,
    directions: ['same direction: the largest score', 'at right angles: 0', 'opposite directions: the smallest score'],
    card: {
        explore: {
            see: 'Rows are queries, columns are keys. The cells of a row sum to 1: they are the shares in which the word of that row takes from all words.',
            formulas: ['A = softmax(Q K^T / sqrt(d_k))', 'O = A V'],
            try: {
                bothSentences: 'Tired minus dirty, cell by cell',
                sharp: 'Temperature 0.2: each row nearly picks one word',
                causal: 'Mask the future: “it” cannot see the adjective',
                allHeads: 'All heads at once',
                bank: 'Another model: which kind of bank?',
            },
        },
        train: {
            see: 'Training starts from random numbers. Each step reads 64 sentences and moves every number slightly against its gradient. The gradient passes through softmax: where one weight is near 1, these derivatives are near 0.',
            formulas: ['∂a_j / (∂s_k) = a_j (δ_jk − a_k)'],
            try: {
                learn: 'whois: seeds 1 to 5 took 600 to 1500 steps',
                oneLayer: 'One layer: 69 to 96 % accuracy, never solved',
                causalTraining: 'Causal mask: “it” cannot see the adjective',
            },
        },
        models: {
            see: 'A model is a file of numbers: embeddings, and W_Q, W_K, W_V, W_O for each layer. Its header is shown before the file is opened; nothing leaves your browser.',
            formulas: ['x + softmax(Q K^T / sqrt(d_k)) V W_O'],
            try: { tired: 'whois: what “it” means', bank: 'sense: the bank near the water', learn: 'Train one yourself' },
        },
        cost: {
            see: 'Every token is paired with every token, so twice the text makes four times the pairs. The weights are n² numbers; Q, K, V and the output are 4 n d. At d = 64 the weights’ share is 94.1 % at n = 4096; it exceeds 98 % only for n above 12,544.',
            formulas: ['n^2 / (n^2 + 4 n d) = n / (n + 4 d)', 'FLOPs = 4 n^2 d'],
            try: {
                even: 'n = 256: the weights are exactly half of it',
                square: 'n = 4096: 64 of 68 MiB',
                tiles: 'n = 16,384: 1 GiB that is never allocated',
            },
        },
        tokens: {
            see: 'Words become rows of numbers. A trained model has learned them; here you can type your own and follow one through every step.',
            formulas: [],
            try: { symmetric: 'Without projections: Q = K = V = X' },
        },
        queries: {
            see: 'You come to a library with a question: that is the query. W_Q computes it from the token.',
            formulas: ['q_i = x_i W_Q'],
            try: { symmetric: 'Without projections a fits b as b fits a' },
        },
        keys: {
            see: 'The label on a shelf is the key: what a token is found by, which can differ from what it looks for.',
            formulas: ['k_j = x_j W_K'],
            try: { symmetric: 'Without projections a fits b as b fits a' },
        },
        values: {
            see: 'The books on the shelf are the value: what a token passes on. It plays no part in the scores.',
            formulas: ['v_j = x_j W_V'],
            try: { output: 'See how the values are mixed' },
        },
        given: {
            see: 'This example starts here: what each token looks for, what it is found by, and what it passes on.',
            formulas: [],
            try: { queries: 'Where they come from: X times three matrices' },
        },
        scores: {
            see: 'One number for each pair: multiply component by component and add up. The score is large where query and key point in the same direction, 0 where they are at right angles, and negative where they point in opposite directions.',
            formulas: ['s_ij = q_i · k_j'],
            try: { angles: 'One query, three keys of length 1: see the scores', dot: '“apple” on “phones”, factor by factor', symmetric: 'Scores without projections: a symmetric table' },
        },
        scaled: {
            see: 'If components are independent with variance 1, q·k has variance d_k; divided by √d_k, it has variance 1. So training starts the same way for any d_k. (Without scaling, learning is harder, but not impossible.)',
            formulas: ['Var(q · k) = d_k', 's_ij = q_i k_j^T / sqrt(d_k)'],
            try: { unscaled: '30, 25, −10, 5 at d_k 64, unscaled: 0.993 on one key', scaled: 'The same, scaled: 0.631 and 0.338' },
        },
        masked: {
            see: 'The score of a key that must not be seen is set to minus infinity before softmax: its weight is then exactly 0, and the other weights still sum to 1. With a causal mask, no token sees what comes later.',
            formulas: ['s_ij = −∞ , j > i'],
            try: { mask: 'Three tokens, causal', masked: 'And after softmax' },
        },
        weights: {
            see: 'The numbers in each row become positive and sum to 1. Only differences count: a score higher by 5 gets 148 times the weight. Scores are divided by the temperature first.',
            formulas: ['a_ij = e^(s_ij) / (sum_k e^(s_ik))'],
            try: { hot: 'Temperature 100: nearly uniform', ties: 'Temperature 0.001: ties share the weight', unscaled: 'Large scores: nearly one-hot' },
        },
        output: {
            see: 'Each token takes a share of every value. The result is a weighted mean, which never lies outside the range of the values.',
            formulas: ['o_i = sum_j a_ij v_j'],
            try: { noOrder: '“man bites dog”: change the order of the words' },
        },
        concat: {
            see: 'Heads look for different things at the same time, each with its own matrices. Their outputs are then placed side by side.',
            formulas: ['concat(O_1 , O_2)'],
            try: { allHeads: 'The heads of a trained model' },
        },
        result: {
            see: 'Up to here the heads were separate. W_O mixes them into rows as wide as the input, ready for the next layer.',
            formulas: ['Y = concat(O_1 , O_2) W_O'],
            try: { tired: 'On to a trained model' },
        },
    },
};

/** The titles of the steps in Steps. */
export const pages = {
    tokens: 'Tokens as numbers',
    queries: 'Queries',
    keys: 'Keys',
    values: 'Values',
    given: 'Queries, keys, values',
    scores: 'Scores',
    scaled: 'Scale',
    masked: 'Mask',
    weights: 'Softmax',
    output: 'Weighted values',
    concat: 'Heads side by side',
    result: 'Output projection',
};

export const quiz = {
    title: 'Quiz',
    check: 'Check',
    next: 'Another question',
    right: 'Right.',
    wrong: 'Not quite.',
    choose: 'Choose an answer first.',
    look: 'See it in the room: ',
    show: 'Show me',
    blank: (k: number) => `blank ${k}`,
    score: (right: number, asked: number, all: number) => `Right on the first try: ${right} of ${asked} answered (${all} in total).`,
    /** What to look for in the room after a wrong answer, by number of the question. */
    see: {
        1: 'no projections. The table is symmetric: the score of “love” for “cats” is that of “cats” for “love”. Two different matrices remove this symmetry.',
        2: 'scores 30, 25, −10, 5 at d_k = 64, not scaled: 0.993 of the weight is on one key. Tick “Divide by √d_k”, and it falls to 0.631.',
        3: 'row i is visible up to column i; everything after it is hatched.',
        4: 'each row sums to 1, as shown at its right. A column can have any sum.',
        5: 'masked cells are 0, and each row still sums to 1, because minus infinity was set before softmax.',
        6: 'all keys but one are masked, and that one gets 100 %. If it were masked too, plain softmax would compute 0/0; here the result is zeros.',
        7: 'n = 512, and next to it twice that n: the operations of attention go from 67,108,864 to 268,435,456, a factor of 4.',
        8: 'n = 4096, d = 64: the weights take 64 MiB of 68 MiB in total.',
        9: '1 was added to every number in K, as b_K might do. All scores of a row changed by the same amount; the weights are still 0.401, 0.401, 0.198.',
        10: 'column 1 is seen by every row, the last column by only one. Gradients flow back the same way.',
        11: 'the outputs for “man bites dog”. Type “dog bites man”, and you get the same rows in another order.',
        12: 'n = 16,384: the weights would take 1 GiB but are never stored; the number of flops is the same.',
        13: 'this query is 64 ones: components of size 1 make a vector of length 8. With vectors of length 1, q·k is 64 times smaller.',
        14: 'temperature 0.001: two equal scores share the weight, 0.5 each.',
    } as Record<number, string>,
};
