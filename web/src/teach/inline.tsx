// inline.tsx - the marks of the book inside a line: `code` and *stress*.
export function Inline({ text }: { text: string }) {
    return (
        <>
            {text.split(/(`[^`]+`|\*[^*]+\*)/).map((part, i) =>
                i % 2 === 0 ? part : part.startsWith('`') ? <code key={i}>{part.slice(1, -1)}</code> : <em key={i}>{part.slice(1, -1)}</em>,
            )}
        </>
    );
}
