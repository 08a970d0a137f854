package wire

import (
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
)

// AppendRequest appends the message pb.SearchRequest of r without its view or shard. An Ask carries these, so that one
// encoding serves all shards.
func AppendRequest(b []byte, r *search.Request) []byte {
	b, at := begin(b, 1)
	b = end(appendQuery(b, r.Query), at)
	for _, rule := range r.Profile {
		b, at = begin(b, 2)
		b = appendBool(b, 1, rule.Others)
		b = appendBool(b, 2, rule.Ordered)
		b = appendBool(b, 3, rule.Adjacent)
		b = end(appendVarint(b, 4, uint64(rule.Reach)), at)
	}
	b = appendVarint(b, 3, uint64(r.Device))
	b = appendVarint(b, 4, uint64(max(r.Slots, 0)))
	b = appendVarint(b, 5, r.Reserve)
	b = appendBool(b, 6, r.ExactCounts)
	b = appendText(b, 7, r.RequestID)
	b = appendBool(b, 10, true) // pieces
	if r.Context != nil {
		b = appendMessage(b, 17, fromContext(r.Context))
	}
	if r.Page != nil {
		b = appendMessage(b, 18, fromPage(r.Page))
	}
	b = appendScorer(b, 19, &r.Scorer)
	return b
}

// appendMessage appends a request's context or page, using the generated code: most contexts have little more than a
// time.
func appendMessage(b []byte, number protowire.Number, m proto.Message) []byte {
	b, at := begin(b, number)
	b, _ = proto.MarshalOptions{}.MarshalAppend(b, m) // fails only for texts that are not UTF-8, which no request has
	return end(b, at)
}

func appendQuery(b []byte, q *search.Query) []byte {
	if q == nil {
		return b
	}
	b = appendText(b, 1, q.Text)
	if n := len(q.Words); n > 0 {
		b = beginFixed64s(b, 2, n)
		for _, w := range q.Words {
			b = protowire.AppendFixed64(b, w.Norm)
		}
		b = beginFixed64s(b, 3, n)
		for _, w := range q.Words {
			b = protowire.AppendFixed64(b, w.Fold)
		}
	}
	if len(q.Terms) > 0 {
		b = appendTerms(b, q.Terms)
	}
	if len(q.Runs) > 0 {
		b = appendRuns(b, q.Runs)
	}
	return b
}

func appendRuns(b []byte, runs []search.Run) []byte {
	b = beginFixed64s(b, 8, len(runs))
	for _, r := range runs {
		b = protowire.AppendFixed64(b, r.Norm)
	}
	b, at := begin(b, 9)
	for _, r := range runs {
		b = protowire.AppendVarint(b, uint64(r.Word))
	}
	b, at = begin(end(b, at), 10)
	for _, r := range runs {
		b = protowire.AppendVarint(b, uint64(r.More))
	}
	return end(b, at)
}

func appendTerms(b []byte, terms []search.QueryTerm) []byte {
	b = beginFixed64s(b, 4, len(terms))
	total, synonyms, misspelt := 0, false, false
	for i := range terms {
		b = protowire.AppendFixed64(b, terms[i].Term)
		total += len(terms[i].Senses)
	}
	b, at := begin(b, 5)
	for i := range terms {
		b = protowire.AppendVarint(b, uint64(len(terms[i].Senses)))
	}
	b = end(b, at)
	if total == 0 {
		return b
	}
	b, at = begin(b, 6)
	for i := range terms {
		for _, s := range terms[i].Senses {
			b = protowire.AppendVarint(b, uint64(s.Word))
			synonyms = synonyms || s.Synonym != 0
			misspelt = misspelt || s.Misspelt
		}
	}
	b = end(b, at)
	if synonyms {
		b = beginFixed64s(b, 7, total)
		for i := range terms {
			for _, s := range terms[i].Senses {
				b = protowire.AppendFixed64(b, s.Synonym)
			}
		}
	}
	if !misspelt {
		return b
	}
	b, at = begin(b, 11)
	for i := range terms {
		for _, s := range terms[i].Senses {
			b = protowire.AppendVarint(b, one(s.Misspelt))
		}
	}
	return end(b, at)
}

// beginFixed64s appends the tag and the length of a packed list of n entries.
func beginFixed64s(b []byte, number protowire.Number, n int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.BytesType), uint64(8*n))
}

// requests pools messages to decode into, so that their lists are reused.
var requests = sync.Pool{New: func() any { return new(pb.SearchRequest) }}

// mostKept bounds the entries in the lists of a message that is kept for reuse.
const mostKept = 1 << 12

// ParseRequest reads a message made by AppendRequest. The request does not refer to b. Errors: fault.Invalid, as for
// ToRequest, and if a bound is exceeded.
func ParseRequest(b []byte) (*search.Request, error) {
	m := requests.Get().(*pb.SearchRequest)
	err := parseRequest(m, b)
	var r *search.Request
	if err == nil {
		r, err = ToRequest(m)
	}
	m.Context, m.Page, m.Scorer = nil, nil, nil
	if q := m.Query; q == nil || cap(q.Terms)+cap(q.Words)+cap(q.Synonyms)+cap(q.Misspelt) <= mostKept {
		requests.Put(m)
	}
	return r, err
}

// parseRequest reads the fields of a request into m, and overwrites what m held before.
func parseRequest(m *pb.SearchRequest, b []byte) error {
	rules := m.Profile[:0]
	q := m.Query
	if q == nil {
		q = new(pb.Query)
	}
	m.Context, m.Page, m.Scorer = nil, nil, nil
	m.Query, m.Device, m.Slots, m.Reserve, m.ExactCounts, m.RequestId, m.View, m.Shard = q, 0, 0, 0, false, "", 0, 0
	q.Text, q.Norm, q.Fold, q.Terms = "", q.Norm[:0], q.Fold[:0], q.Terms[:0]
	q.Senses, q.Words, q.Synonyms, q.Misspelt = q.Senses[:0], q.Words[:0], q.Synonyms[:0], q.Misspelt[:0]
	q.Runs, q.RunWords, q.RunMore = q.Runs[:0], q.RunWords[:0], q.RunMore[:0]
	seen := false
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | asBytes:
			if f.once(&seen, "SearchRequest.query") {
				f.err = parseQuery(q, f.b)
			}
		case 2<<3 | asBytes:
			rules, f.err = parseRule(rules, f.b)
		case 3<<3 | asVarint:
			m.Device = uint32(f.n)
		case 4<<3 | asVarint:
			m.Slots = uint32(f.n)
		case 5<<3 | asVarint:
			m.Reserve = f.n
		case 6<<3 | asVarint:
			m.ExactCounts = f.n != 0
		case 7<<3 | asBytes:
			m.RequestId = f.text("SearchRequest.request_id", maxRequestID)
		case 8<<3 | asVarint:
			m.View = f.n
		case 9<<3 | asFixed64:
			m.Shard = f.n
		case 17<<3 | asBytes:
			m.Context, f.err = parseMessage(m.Context, f.b, "SearchRequest.context")
		case 18<<3 | asBytes:
			m.Page, f.err = parseMessage(m.Page, f.b, "SearchRequest.page")
		case 19<<3 | asBytes:
			m.Scorer = f.b // refers to b, and is read before b changes
		}
	}
	m.Profile = rules
	return f.err
}

// parseMessage reads a request's context or page, using the generated code. `seen` is an earlier one in the same
// message, or nil.
func parseMessage[T any, M interface {
	*T
	proto.Message
}](seen M, b []byte, name string) (M, error) {
	if seen != nil {
		return nil, fault.Field(checkOp, name, "%s occurs twice in its message", name)
	}
	m := M(new(T))
	if err := shapes()[m.ProtoReflect().Descriptor().FullName()].check(b); err != nil {
		return nil, err
	}
	if err := proto.Unmarshal(b, m); err != nil {
		return nil, fault.New(fault.Invalid, checkOp, err)
	}
	return m, nil
}

func parseRule(rules []*pb.Rule, b []byte) ([]*pb.Rule, error) {
	if len(rules) >= maxRules {
		return rules, tooMany("SearchRequest.profile", maxRules)
	}
	var rule *pb.Rule
	if n := len(rules); cap(rules) > n {
		rule = rules[:n+1][n]
	}
	if rule == nil {
		rule = new(pb.Rule)
	}
	rule.Others, rule.Ordered, rule.Adjacent, rule.Reach = false, false, false, 0
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | asVarint:
			rule.Others = f.n != 0
		case 2<<3 | asVarint:
			rule.Ordered = f.n != 0
		case 3<<3 | asVarint:
			rule.Adjacent = f.n != 0
		case 4<<3 | asVarint:
			rule.Reach = uint32(f.n)
		}
	}
	return append(rules, rule), f.err
}

func parseQuery(q *pb.Query, b []byte) error {
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | asBytes:
			q.Text = f.text("Query.text", search.MaxQueryBytes)
		case 2<<3 | asBytes, 2<<3 | asFixed64:
			q.Norm = f.fixed64s(q.Norm, "Query.norm", search.MaxQueryUnits)
		case 3<<3 | asBytes, 3<<3 | asFixed64:
			q.Fold = f.fixed64s(q.Fold, "Query.fold", search.MaxQueryUnits)
		case 4<<3 | asBytes, 4<<3 | asFixed64:
			q.Terms = f.fixed64s(q.Terms, "Query.terms", maxTerms)
		case 5<<3 | asBytes, 5<<3 | asVarint:
			q.Senses = varints(&f, q.Senses, "Query.senses", maxTerms)
		case 6<<3 | asBytes, 6<<3 | asVarint:
			q.Words = varints(&f, q.Words, "Query.words", maxSenses)
		case 7<<3 | asBytes, 7<<3 | asFixed64:
			q.Synonyms = f.fixed64s(q.Synonyms, "Query.synonyms", maxSenses)
		case 8<<3 | asBytes, 8<<3 | asFixed64:
			q.Runs = f.fixed64s(q.Runs, "Query.runs", search.MaxQueryRuns)
		case 9<<3 | asBytes, 9<<3 | asVarint:
			q.RunWords = varints(&f, q.RunWords, "Query.run_words", search.MaxQueryRuns)
		case 10<<3 | asBytes, 10<<3 | asVarint:
			q.RunMore = varints(&f, q.RunMore, "Query.run_more", search.MaxQueryRuns)
		case 11<<3 | asBytes, 11<<3 | asVarint:
			q.Misspelt = varints(&f, q.Misspelt, "Query.misspelt", maxSenses)
		}
	}
	return f.err
}
