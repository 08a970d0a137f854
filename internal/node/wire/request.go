package wire

import (
	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
)

// MaxSlots is the largest number of slots in a request (serving.md §8).
const MaxSlots = 20

// maxTerms bounds the terms of a query: words × languages × synonyms.
const maxTerms = 1 << 16

// FromRequest makes the message of a request. It shares the request's strings
// only; one message may be sent to many slaves at once.
func FromRequest(r *search.Request) *pb.SearchRequest {
	m := &pb.SearchRequest{
		Query:       fromQuery(r.Query),
		Profile:     make([]*pb.Rule, search.MatchTypes),
		Device:      uint32(r.Device),
		Slots:       uint32(max(r.Slots, 0)),
		Reserve:     r.Reserve,
		ExactCounts: r.ExactCounts,
		RequestId:   r.RequestID,
		View:        r.View,
	}
	rules := make([]pb.Rule, search.MatchTypes)
	for i, rule := range r.Profile {
		m.Profile[i] = &rules[i]
		rules[i].Others, rules[i].Ordered, rules[i].Adjacent = rule.Others, rule.Ordered, rule.Adjacent
		rules[i].Reach = uint32(rule.Reach)
	}
	return m
}

func fromQuery(q *search.Query) *pb.Query {
	if q == nil {
		return &pb.Query{}
	}
	m := &pb.Query{Text: q.Text, Norm: make([]uint64, len(q.Words)), Fold: make([]uint64, len(q.Words))}
	for i, w := range q.Words {
		m.Norm[i], m.Fold[i] = w.Norm, w.Fold
	}
	m.Terms = make([]*pb.QueryTerm, len(q.Terms))
	terms := make([]pb.QueryTerm, len(q.Terms))
	for i := range q.Terms {
		terms[i].Term = q.Terms[i].Term
		terms[i].Senses = fromSenses(q.Terms[i].Senses)
		m.Terms[i] = &terms[i]
	}
	return m
}

func fromSenses(senses []search.Sense) []*pb.Sense {
	out := make([]*pb.Sense, len(senses))
	made := make([]pb.Sense, len(senses))
	for i, s := range senses {
		made[i].Word, made[i].Synonym = uint32(s.Word), s.Synonym
		out[i] = &made[i]
	}
	return out
}

// ToRequest reads a request's message; fault.Invalid when it is out of bounds.
func ToRequest(m *pb.SearchRequest) (*search.Request, error) {
	const op = "wire: search request"
	q, err := toQuery(m.GetQuery())
	if err != nil {
		return nil, err
	}
	switch {
	case m.GetDevice() >= search.Devices:
		return nil, fault.Field(op, "device", "number %d; there are %d devices", m.GetDevice(), search.Devices)
	case m.GetSlots() < 1 || m.GetSlots() > MaxSlots:
		return nil, fault.Field(op, "slots", "%d; it must be 1 to %d", m.GetSlots(), MaxSlots)
	case len(m.GetProfile()) != search.MatchTypes:
		return nil, fault.Field(op, "profile", "%d rules; there are %d match types", len(m.GetProfile()), search.MatchTypes)
	}
	r := &search.Request{
		Query:       q,
		Device:      search.Device(m.GetDevice()),
		Slots:       int(m.GetSlots()),
		Reserve:     m.GetReserve(),
		ExactCounts: m.GetExactCounts(),
		RequestID:   m.GetRequestId(),
		View:        m.GetView(),
	}
	for i, rule := range m.GetProfile() {
		if rule.GetReach() >= uint32(search.Levels) {
			return nil, fault.Field(op, "profile", "level %d; there are %d levels", rule.GetReach(), search.Levels)
		}
		r.Profile[i] = search.Rule{Others: rule.GetOthers(), Ordered: rule.GetOrdered(),
			Adjacent: rule.GetAdjacent(), Reach: search.Level(rule.GetReach())}
	}
	return r, nil
}

func toQuery(m *pb.Query) (*search.Query, error) {
	const op = "wire: query"
	n := len(m.GetNorm())
	if n > search.MaxQueryWords || len(m.GetFold()) != n || len(m.GetTerms()) > maxTerms {
		return nil, fault.Field(op, "query", "%d words with %d folded forms and %d terms; at most %d words with one form each",
			n, len(m.GetFold()), len(m.GetTerms()), search.MaxQueryWords)
	}
	q := &search.Query{Text: m.GetText()}
	if n > 0 {
		q.Words = make([]search.Word, n)
	}
	for i := range q.Words {
		q.Words[i] = search.Word{Norm: m.Norm[i], Fold: m.Fold[i]}
	}
	if len(m.GetTerms()) > 0 {
		q.Terms = make([]search.QueryTerm, len(m.Terms))
	}
	for i, t := range m.GetTerms() {
		q.Terms[i].Term = t.GetTerm()
		for _, s := range t.GetSenses() {
			if int(s.GetWord()) >= n {
				return nil, fault.Field(op, "query", "a term of word %d; there are %d words", s.GetWord(), n)
			}
			q.Terms[i].Senses = append(q.Terms[i].Senses, search.Sense{Word: uint8(s.GetWord()), Synonym: s.GetSynonym()})
		}
	}
	return q, nil
}
