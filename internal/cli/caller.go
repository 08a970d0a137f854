package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"adshard/fault"
	"adshard/internal/node/certs"
)

// callerFlags say who calls a server that has TLS or tokens.
type callerFlags struct{ ca, cert, key, tokenFile string }

func (f *callerFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.ca, "ca", "", "the certificate (PEM) of the cluster's CA, for https; empty: the system's CAs")
	flags.StringVar(&f.cert, "cert", "", "your certificate (PEM), made by 'adshard cert issue operator NAME'")
	flags.StringVar(&f.key, "key", "", "the key (PEM) of that certificate")
	flags.StringVar(&f.tokenFile, "token-file", "", "a file with your token for the admin port")
}

// withoutToken is for a port that was not named by whoever gave the token.
func (f *callerFlags) withoutToken() *callerFlags {
	other := *f
	other.tokenFile = ""
	return &other
}

// token returns the token in the file; "": there is none.
func (f *callerFlags) token() (string, error) {
	if f.tokenFile == "" {
		return "", nil
	}
	text, err := certs.ReadSecret(f.tokenFile)
	if err != nil {
		return "", wrongUse("--token-file: %s", fault.Cause(err))
	}
	token := strings.TrimSpace(string(text))
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", wrongUse("--token-file %s: it must hold one token and nothing else", f.tokenFile)
	}
	return token, nil
}
