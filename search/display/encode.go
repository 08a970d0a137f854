package display

import "unicode/utf8"

// Ad is the ad that is shown.
type Ad struct {
	ID                      uint64
	Headlines, Descriptions []string
	Path1, Path2, FinalURL  string
}

// AppendNames appends the part of a group's piece that all of its ads share.
func AppendNames(b []byte, advertiser, campaign, group string) []byte {
	b = AppendString(append(b, '['), advertiser)
	b = AppendString(append(b, ','), campaign)
	b = AppendString(append(b, ','), group)
	return append(b, ',')
}

// AppendAd completes a group's piece: it appends the ad's texts to the names.
func AppendAd(names []byte, ad *Ad) []byte {
	b := appendList(names, ad.Headlines)
	b = appendList(append(b, ','), ad.Descriptions)
	b = appendPath(append(b, ','), ad)
	b = AppendString(append(b, ','), ad.FinalURL)
	return append(b, ']')
}

// appendPath appends path 1, or path 1/path 2. If path 1 is empty, path 2 keeps its position.
func appendPath(b []byte, ad *Ad) []byte {
	b = appendText(append(b, '"'), ad.Path1)
	if ad.Path2 != "" {
		b = appendText(append(b, '/'), ad.Path2)
	}
	return append(b, '"')
}

func appendList(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendString(b, s)
	}
	return append(b, ']')
}

// AppendString appends s as a JSON string, as encoding/json writes it without HTML escapes.
func AppendString(b []byte, s string) []byte {
	return append(appendText(append(b, '"'), s), '"')
}

// appendText appends s as it appears inside a JSON string.
func appendText(b []byte, s string) []byte {
	done := 0 // s up to here has been appended
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if special(c) {
				b = appendEscape(append(b, s[done:i]...), c)
				done = i + 1
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(append(b, s[done:i]...), `\ufffd`...)
			done = i + size
		case r == '\u2028' || r == '\u2029': // line ends in JavaScript
			b = append(append(b, s[done:i]...), `\u202`...)
			b = append(b, hex[r&0xf])
			done = i + size
		}
		i += size
	}
	return append(b, s[done:]...)
}

const hex = "0123456789abcdef"

// special reports whether a byte needs an escape in a JSON string.
func special(c byte) bool { return c < ' ' || c == '"' || c == '\\' }

// appendEscape appends a special character.
func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
}
