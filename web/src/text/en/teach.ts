// teach.ts - strings of what explains the rooms: story, side card and quiz.

export const teach = {
    about: 'About what you see',
    tryThis: 'Try this',
    tour: 'Tour',
    glossary: 'Glossary',
    keys: 'Keys',
    close: 'Close',
    story: {
        title: 'What does “it” mean?',
        before: 'The red cat sat on the blue mat because ',
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
            ': made-up sentences, 64 at a time, some hundred times; each time it had to say which noun “it” is and its colour, and its numbers were corrected. Then it was right about sentences it had never seen. In Train you can watch one learn. Nothing here can break: Undo takes everything back.',
        ],
    },
    /** Below the card, folded; a line that begins with $ is a formula. */
    more: {
        scaled: {
            title: 'Why the variance is d_k',
            lines: [
                'Let all components of q and k be independent, with mean 0 and variance 1. One product then has mean 0 and variance',
                '$Var(q_i k_i) = E (q_i^2) E (k_i^2) = 1',
                'The score adds up d_k of them, and variances of independent numbers add:',
                '$Var(q · k) = sum_i Var(q_i k_i) = d_k',
                'Divided by a number c, a variance falls by c². So √d_k gives 1 at any size; no scaling leaves d_k; dividing by d_k leaves',
                '$1 / d_k',
            ],
        },
        masked: {
            title: 'When to mask',
            lines: [
                'BERT, which reads whole texts: no mask. GPT, which predicts the next word: causal. T5: none in the encoder, causal in the decoder, which also reads the encoder, all of it.',
                'Padding is masked everywhere: it is no word.',
            ],
        },
        output: {
            title: 'Self and cross',
            lines: [
                'Here queries, keys and values come from the same tokens: self-attention.',
                'In cross-attention one text asks and another answers: the French “chat” asks, the English “cat” has key and value; or a picture asks and its caption answers. The arithmetic is the same.',
            ],
        },
    } as Record<string, { title: string; lines: string[] }>,
    directions: ['the same way: the largest score', 'at right angles: 0', 'opposite ways: the smallest'],
    card: {
        explore: {
            see: 'A row is a word that asks, a column a word that is looked at. The cells of a row sum to 1: in these shares the word takes from all others.',
            formulas: ['A = softmax(Q K^T / sqrt(d_k))', 'O = A V'],
            try: {
                bothSentences: 'tired minus dirty, cell by cell',
                sharp: 'Temperature 0.2: rows almost decide for one word',
                causal: 'Hide the future: “it” cannot see the adjective',
                allHeads: 'All heads at once',
                bank: 'Another model: which bank is it?',
            },
        },
        train: {
            see: 'It begins with random numbers. Each step asks 64 sentences and moves every number a little against its gradient, which comes through softmax: where one weight is near 1, these derivatives are near 0.',
            formulas: ['∂a_j / (∂s_k) = a_j (δ_jk − a_k)'],
            try: {
                learn: 'whois: seeds 1 to 5 took 500 to 900 steps',
                oneLayer: 'One layer: stays at about 50 %',
                causalTraining: 'Causal mask: “it” cannot see the adjective',
            },
        },
        models: {
            see: 'A model is a file of numbers: embeddings, and W_Q, W_K, W_V, W_O for each layer. Its header is shown before it is trusted; nothing leaves your browser.',
            formulas: ['x + softmax(Q K^T / sqrt(d_k)) V W_O'],
            try: { tired: 'whois: what “it” means', bank: 'sense: the bank near the water', learn: 'Train one yourself' },
        },
        cost: {
            see: 'Every token meets every token: twice the text, four times the pairs. The weights take n² numbers; Q, K, V and the output 4 n d. At d = 64 their share is 94.1 % at n = 4096 and passes 98 % only beyond 12,544.',
            formulas: ['n^2 / (n^2 + 4 n d) = n / (n + 4 d)', 'FLOPs = 4 n^2 d'],
            try: {
                even: 'n = 256: the weights are exactly half',
                square: 'n = 4096: 64 of 68 MiB',
                tiles: 'n = 16,384: 1 GiB that is never allocated',
            },
        },
        tokens: {
            see: 'Words become rows of numbers. A trained model has learned them; here you can type them and follow one through all steps.',
            formulas: [],
            try: { symmetric: 'Without projections: Q = K = V = X' },
        },
        queries: {
            see: 'In a library you come with a question: the query. W_Q makes it from the token.',
            formulas: ['q_i = x_i W_Q'],
            try: { symmetric: 'Without projections a fits b as b fits a' },
        },
        keys: {
            see: 'The label on a shelf is the key: what a token is found by, which need not be what it looks for.',
            formulas: ['k_j = x_j W_K'],
            try: { symmetric: 'Without projections a fits b as b fits a' },
        },
        values: {
            see: 'The books on the shelf are the value: what a token hands over. Scores never see it.',
            formulas: ['v_j = x_j W_V'],
            try: { output: 'See the values being mixed' },
        },
        given: {
            see: 'This example begins here: what each token looks for, is found by and hands over.',
            formulas: [],
            try: { queries: 'Where they come from: X times three matrices' },
        },
        scores: {
            see: 'One number for each pair: multiply place by place and add up. Large where query and key point the same way, 0 at right angles, negative where they oppose.',
            formulas: ['s_ij = q_i · k_j'],
            try: { angles: 'One query, three keys of length 1: see the scores', dot: '“apple” on “phones”, factor by factor', symmetric: 'Scores without projections: a symmetric table' },
        },
        scaled: {
            see: 'With independent components of variance 1, q·k has variance d_k; divided by √d_k, it has 1. So the start does not depend on d_k. (Without it learning is harder, not impossible.)',
            formulas: ['Var(q · k) = d_k', 's_ij = q_i k_j^T / sqrt(d_k)'],
            try: { unscaled: '30, 25, −10, 5 at d_k 64, unscaled: 0.993 on one key', scaled: 'The same, scaled: 0.631 and 0.338' },
        },
        masked: {
            see: 'What must not be seen gets minus infinity before softmax: its weight is exactly 0, and the others still sum to 1. Causal: nobody sees what comes later.',
            formulas: ['s_ij = −∞ , j > i'],
            try: { mask: 'Three tokens, causal', masked: 'And after softmax' },
        },
        weights: {
            see: 'Each row becomes positive with sum 1. Only differences count: a lead of 5 is 148 times the weight. Temperature divides the scores first.',
            formulas: ['a_ij = e^(s_ij) / (sum_k e^(s_ik))'],
            try: { hot: 'Temperature 100: nearly uniform', ties: 'Temperature 0.001: ties share', unscaled: 'Large scores: nearly one-hot' },
        },
        output: {
            see: 'Each token takes its share of every value: a weighted mean, never outside the values.',
            formulas: ['o_i = sum_j a_ij v_j'],
            try: { noOrder: '“man bites dog”: change the order of the words' },
        },
        concat: {
            see: 'Heads look for different things at once, each with its own matrices; then they stand side by side.',
            formulas: ['concat(O_1 , O_2)'],
            try: { allHeads: 'Heads of a trained model' },
        },
        result: {
            see: 'Until here heads never met. W_O mixes them into rows as wide as the input, ready for the next layer.',
            formulas: ['Y = concat(O_1 , O_2) W_O'],
            try: { tired: 'On to a trained model' },
        },
    },
};

/** Of Steps. */
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
    wrong: 'Not so.',
    choose: 'Choose an answer first.',
    look: 'Look at the room: ',
    show: 'Go there',
    blank: (k: number) => `blank ${k}`,
    score: (right: number, asked: number, all: number) => `Right at the first try: ${right} of ${asked} answered (${all} in all).`,
    /** What to see in the room after a wrong answer, by number. */
    see: {
        1: 'no projections. The table is symmetric: “love” on “cats” is “cats” on “love”. Two matrices undo that.',
        2: 'scores 30, 25, −10, 5 at d_k = 64, not scaled: 0.993 of the weight is on one key. Tick “Divide by √d_k”: 0.631.',
        3: 'row i is open up to column i; hatched is what comes after.',
        4: 'each row sums to 1, at its right. A column sums to anything.',
        5: 'masked cells are 0, and each row still sums to 1: minus infinity came before softmax.',
        6: 'all keys but one are hidden, and that one gets 100 %. Were it hidden too, plain softmax would be 0/0; the answer here is zeros.',
        7: 'n = 512, and beside it twice n: the operations of attention go from 67,108,864 to 268,435,456, times 4.',
        8: 'n = 4096, d = 64: the weights take 64 MiB, everything 68 MiB.',
        9: '1 was added to every number of K, as b_K might. All scores of a row moved alike; the weights are still 0.401, 0.401, 0.198.',
        10: 'column 1 is seen by every row, the last column by one. Gradient comes back the same way.',
        11: 'the outputs of “man bites dog”. Type “dog bites man”: the same rows, in another order.',
        12: 'n = 16,384: weights of 1 GiB that are never stored; the flops are the same.',
        13: 'this query is 64 ones: size 1 makes a length of 8. With lengths of 1, q·k is 64 times smaller.',
        14: 'temperature 0.001: two equal scores share, 0.5 and 0.5.',
    } as Record<number, string>,
};
