package postgres_test

import (
	"strings"
	"testing"

	"adshard/backend"
	"adshard/backend/postgres"
)

// TestRoleOfABalancerSavesTheVocabulary: the role serve saves the vocabulary and which one is in force, and changes no other document.
func TestRoleOfABalancerSavesTheVocabulary(t *testing.T) {
	ctx := t.Context()
	p := newPlace(t).(place)
	owner := open(t, p)
	list, err := owner.SaveDocument(ctx, backend.BlocklistDocument+"kids", 0, backend.PackDocument("list"))
	must(t, err)
	do(t, p.name, postgres.Roles)
	do(t, p.name, "DROP ROLE IF EXISTS test_words; CREATE ROLE test_words LOGIN; GRANT adshard_serve TO test_words")
	s, err := postgres.Open(ctx, strings.Replace(shared.URL(p.name), "user=postgres", "user=test_words", 1), postgres.Options{})
	must(t, err)
	defer s.Close()
	for _, name := range []string{backend.VocabularyDocument, backend.VocabularyInForce} {
		was := uint64(0)
		for _, text := range []string{"one", "another"} {
			d, err := s.SaveDocument(ctx, name, was, backend.PackDocument(text))
			must(t, err)
			was = d.Version
			if _, got, _, err := backend.LoadDocument(ctx, owner, name); err != nil || got != text {
				t.Errorf("%s is %q, %v", name, got, err)
			}
		}
	}
	for name, was := range map[string]uint64{list.Name: list.Version, backend.BlocklistDocument + "new": 0, backend.PlacesDocument: 0} {
		if _, err := s.SaveDocument(ctx, name, was, backend.PackDocument("theirs")); err == nil {
			t.Errorf("a balancer's role has changed %s", name)
		}
		if _, err := s.SaveDocument(ctx, name, was, nil); err == nil {
			t.Errorf("a balancer's role has removed %s", name)
		}
	}
	if _, got, _, err := backend.LoadDocument(ctx, owner, list.Name); err != nil || got != "list" {
		t.Errorf("the list is %q, %v", got, err)
	}
}
