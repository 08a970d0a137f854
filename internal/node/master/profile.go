package master

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"adshard/fault"
	"adshard/internal/node/config"
	"adshard/search"
)

// Profiles with a name; any other profile is in a file (Config.Profile).
const (
	ProfileDefault = "default"
	ProfileSklik   = "sklik"
)

// CheckProfile checks the name of a profile. The path of a file must contain a slash or a dot, so that it cannot
// be taken for a name.
func CheckProfile(k *config.Check, name string) {
	named := name == ProfileDefault || name == ProfileSklik || strings.ContainsAny(name, "/.")
	k.That(named, "profile", "is %q; it must be %s, %s, or the path of a file, such as ./google.yaml", name, ProfileDefault, ProfileSklik)
}

// readProfile returns the profile with a name, or the one in a file. Errors: fault.Invalid, with the name of the
// file and what is wrong in it.
func readProfile(name string) (search.Profile, error) {
	switch name {
	case ProfileDefault:
		return search.DefaultProfile(), nil
	case ProfileSklik:
		return search.SklikProfile(), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return search.Profile{}, fault.Field("profile", "profile", "the profile cannot be read: %w", err)
	}
	defer f.Close()
	p, err := parseProfile(f)
	if err != nil {
		return p, fault.Field("profile", "profile", "%s: %w", name, err)
	}
	return p, nil
}

// profileText is a profile as written in a file: all properties of all match types (serving.md §2).
type profileText struct {
	Exact  *ruleText `yaml:"exact"`
	Phrase *ruleText `yaml:"phrase"`
	Broad  *ruleText `yaml:"broad"`
}

// ruleText is one match type of a profile.
type ruleText struct {
	OtherWords *bool   `yaml:"other_words"`
	Order      *bool   `yaml:"order"`
	Adjacent   *bool   `yaml:"adjacent"`
	AgreesUpTo *string `yaml:"agrees_up_to"`
}

// maxProfile bounds a profile's file, in bytes.
const maxProfile = 1 << 16

// parseProfile reads a profile. No property has a default, since one that was forgotten would change which ads
// match.
func parseProfile(from io.Reader) (p search.Profile, err error) {
	var text profileText
	file, err := io.ReadAll(io.LimitReader(from, maxProfile))
	if err == nil {
		err = config.Parse(file, &text)
	}
	if err != nil {
		return p, fmt.Errorf("%w; a file has exact, phrase and broad, each with other_words, order, adjacent and agrees_up_to", err)
	}
	var faults [search.MatchTypes]error
	for t, rule := range [search.MatchTypes]*ruleText{search.Exact: text.Exact, search.Phrase: text.Phrase, search.Broad: text.Broad} {
		p[t], faults[t] = rule.read(search.MatchType(t))
	}
	return p, errors.Join(faults[:]...)
}

// read returns the rule of a match type. If it is incomplete, the error lists what is missing.
func (r *ruleText) read(t search.MatchType) (search.Rule, error) {
	if r == nil {
		return search.Rule{}, fmt.Errorf("%s is missing", t)
	}
	var missing []string
	for _, property := range []struct {
		name string
		is   bool
	}{
		{"other_words", r.OtherWords != nil}, {"order", r.Order != nil}, {"adjacent", r.Adjacent != nil}, {"agrees_up_to", r.AgreesUpTo != nil},
	} {
		if !property.is {
			missing = append(missing, property.name)
		}
	}
	if len(missing) > 0 {
		return search.Rule{}, fmt.Errorf("%s has no %s", t, strings.Join(missing, ", "))
	}
	reach, ok := search.ParseLevel(*r.AgreesUpTo)
	if !ok || reach > search.Synonym { // only a request asks for more
		return search.Rule{}, fmt.Errorf("%s: agrees_up_to is %q; it is identical, folded, inflected or synonym", t, *r.AgreesUpTo)
	}
	return search.Rule{Others: *r.OtherWords, Ordered: *r.Order, Adjacent: *r.Adjacent, Reach: reach}, nil
}
