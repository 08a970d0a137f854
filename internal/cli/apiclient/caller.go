package apiclient

import (
	"strings"

	"github.com/spf13/pflag"

	"adshard/fault"
	"adshard/internal/cli/cmdline"
	"adshard/internal/node/certs"
)

// CallerFlags identify the caller to a server that has TLS or tokens.
type CallerFlags struct{ ca, cert, key, TokenFile string }

// Add adds the flags.
func (f *CallerFlags) Add(flags *pflag.FlagSet) {
	flags.StringVar(&f.ca, "ca", "", "the certificate (PEM) of the cluster's CA, for https; empty: the system's CAs")
	flags.StringVar(&f.cert, "cert", "", "your certificate (PEM), made by 'adshard cert issue operator NAME'")
	flags.StringVar(&f.key, "key", "", "the key (PEM) of that certificate")
	flags.StringVar(&f.TokenFile, "token-file", "", "a file with your token for the admin port")
}

// WithoutToken returns the flags without the token, for a port whose address was not given by the user who gave the
// token.
func (f *CallerFlags) WithoutToken() *CallerFlags {
	other := *f
	other.TokenFile = ""
	return &other
}

// token returns the token in the file, or "" if there is none.
func (f *CallerFlags) token() (string, error) {
	if f.TokenFile == "" {
		return "", nil
	}
	text, err := certs.ReadSecret(f.TokenFile)
	if err != nil {
		return "", cmdline.WrongUse("--token-file: %s", fault.Cause(err))
	}
	token := strings.TrimSpace(string(text))
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", cmdline.WrongUse("--token-file %s: it must hold one token and nothing else", f.TokenFile)
	}
	return token, nil
}
