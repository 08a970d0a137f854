package block

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"adshard/schema/fb"
	"adshard/search"
)

// Fields of the root table that are vectors of numbers. The generated code would read their
// elements one by one.
const (
	fieldReferences     flatbuffers.VOffsetT = 4 + 2*3
	fieldWideReferences flatbuffers.VOffsetT = 4 + 2*12
)

// narrowWords is the largest number of words that one-byte references can refer to, maxWords the
// largest number of words of a posting.
const (
	narrowWords = 1 << 8
	maxWords    = search.MaxKeywordWords
)

func (v *View) findWords(root *fb.Block) {
	var first fb.Word
	root.Words(&first, 0)
	v.words = v.found(first.Table().Pos, root.WordsLength(), wordSize, Max*maxWords)
	n := root.FoldsLength()
	if n > int(v.words.n) {
		panic(errBroken)
	}
	v.folds = uint16(n)
	if n > 0 {
		root.Folds(n - 1)
	}
}

func (v *View) findReferences(root *fb.Block) {
	t, field, n, size := root.Table(), fieldReferences, root.ReferencesLength(), 1
	if wide := root.WideReferencesLength(); wide > 0 {
		field, n, size = fieldWideReferences, wide, 2
	}
	v.references = rows{size: 1}
	if n > 0 {
		v.references = v.found(t.Vector(flatbuffers.UOffsetT(t.Offset(field))), n, size, Max*maxWords)
	}
}

// Words returns the number of words in the block's vocabulary.
func (v *View) Words() int { return int(v.words.n) }

// word returns the i-th word of the vocabulary.
func (v *View) word(i int) (w fb.Word) {
	w.Init(v.b, v.words.place(i))
	return w
}

// Word returns the i-th word's hashes and its term in the block's language.
func (v *View) Word(i int) (norm, fold, term uint64) {
	w := v.word(i)
	norm, term = w.Norm(), w.Term()
	if alike := v.Words() - int(v.folds); i >= alike {
		root := v.table()
		return norm, root.Folds(i - alike), term
	}
	return norm, norm, term
}

// Norm returns the hash of the i-th word in its normalised form.
func (v *View) Norm(i int) uint64 {
	w := v.word(i)
	return w.Norm()
}

// Refs are the words of a posting in order, as indexes into the block's vocabulary.
type Refs struct {
	b    []byte // one or two bytes for each word
	wide bool   // two bytes
}

// Len returns the number of words.
func (r Refs) Len() int {
	if r.wide {
		return len(r.b) / 2
	}
	return len(r.b)
}

// At returns the index of the i-th word.
func (r Refs) At(i int) int {
	if r.wide {
		return int(flatbuffers.GetUint16(r.b[2*i:]))
	}
	return int(r.b[i])
}

// Key returns bytes that are equal for equal words in the same block.
func (r Refs) Key() []byte { return r.b }

// refs returns the references of a posting.
func (v *View) refs(p *fb.Posting) Refs {
	first, size := int(p.First()), int(v.references.size)
	return Refs{b: v.b[v.references.place(first):][:size*int(p.Words())], wide: size > 1}
}

// Signature computes the signature of posting i. It returns an error if the posting refers to
// missing words.
func (v *View) Signature(i int) (s search.Signature, err error) {
	p := v.posting(i)
	if n := int(p.Words()); n > maxWords || int(p.First())+n > int(v.references.n) {
		return 0, errBroken
	}
	refs := v.refs(&p)
	for at := range refs.Len() {
		i := refs.At(at)
		if i >= v.Words() {
			return 0, errBroken
		}
		w := v.word(i)
		s |= search.SignatureOf(w.Term())
	}
	return s, nil
}

// Sign computes a signature for each posting. It returns an error if a posting refers to missing
// words.
func (v *View) Sign() error {
	if v.signed == nil {
		v.signed = new([]search.Signature)
	}
	*v.signed = (*v.signed)[:0]
	for i := range v.Len() {
		s, err := v.Signature(i)
		if err != nil {
			return err
		}
		*v.signed = append(*v.signed, s)
	}
	return nil
}

// Signatures returns the signatures that Sign computed, one for each posting.
func (v *View) Signatures() []search.Signature { return *v.signed }
