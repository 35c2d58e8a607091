package directory

import (
	"fmt"
	"net/url"
	"strings"
)

// Base is the URL of a directory as requests begin with it, of what a person gave.
func Base(given string) (string, error) {
	u, err := url.Parse(given)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("%.80q is not the URL of a directory: give one such as "+
			"https://find.example.org", given)
	}
	return strings.TrimSuffix(given, "/"), nil
}
