package oracle

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/transport"

	"informer.dev/tests/reference/oracle/common"
)

// place is where the files of a case are for both sides. Here they are in a folder of their own, whose
// name takes its place in what is read, and gives it back in what is said.
const place = "/case"

// onOneLine writes what would end a line as it is written in code.
var onOneLine = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\x00", `\0`)

// kubeconfig loads a configuration, and says what a client does with it:
//
//	file PATH BASE64        a file, below /case; a path in it may begin so, too
//	env NAME=VALUE          HOME or KUBECONFIG
//	override NAME=VALUE     kubeconfig, context, cluster, user, namespace, server, token, username,
//	                        password, certificate, key, as, as-uid, as-group, as-extra (KEY:VALUE),
//	                        authority, insecure, name, proxy, no-compression, timeout
//	load                    "refused", or all there is to say of server, trust, credentials, proxy
type kubeconfig struct {
	folder    string
	home      string
	list      string
	explicit  string
	overrides clientcmd.ConfigOverrides
}

func newKubeconfig() common.Script {
	folder, err := os.MkdirTemp("", "kubeconfig")
	if err != nil {
		panic(err)
	}
	return &kubeconfig{folder: folder}
}

func (k *kubeconfig) Play(op common.Op, say func(string, ...any)) {
	name, value, _ := strings.Cut(op.Rest, "=")
	value = k.here(value)
	switch op.Verb {
	case "file":
		k.write(op.Arg(0), op.Arg(1))
	case "env":
		switch name {
		case "HOME":
			k.home = value
		case "KUBECONFIG":
			k.list = value
		default:
			panic("no variable " + name)
		}
	case "override":
		k.override(name, value)
	case "load":
		told, err := k.load()
		if err != nil {
			say("refused")
			return
		}
		for _, line := range told {
			say("%s", onOneLine.Replace(strings.ReplaceAll(line, k.folder, place)))
		}
	default:
		panic("no operation " + op.Verb)
	}
}

func (k *kubeconfig) Look(*common.View) {}

func (k *kubeconfig) Close() {
	_ = os.RemoveAll(k.folder)
}

func (k *kubeconfig) here(text string) string {
	return strings.ReplaceAll(text, place, k.folder)
}

func (k *kubeconfig) write(path, encoded string) {
	content, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		panic(err)
	}
	path = k.here(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		panic(err)
	}
	if err := os.WriteFile(path, []byte(k.here(string(content))), 0o600); err != nil {
		panic(err)
	}
}

func (k *kubeconfig) override(name, value string) {
	cluster, user, context := &k.overrides.ClusterInfo, &k.overrides.AuthInfo, &k.overrides.Context
	switch name {
	case "kubeconfig":
		k.explicit = value
	case "context":
		k.overrides.CurrentContext = value
	case "cluster":
		context.Cluster = value
	case "user":
		context.AuthInfo = value
	case "namespace":
		context.Namespace = value
	case "server":
		cluster.Server = value
	case "token":
		user.Token = value
	case "username":
		user.Username = value
	case "password":
		user.Password = value
	case "certificate":
		user.ClientCertificate = value
	case "key":
		user.ClientKey = value
	case "as":
		user.Impersonate = value
	case "as-uid":
		user.ImpersonateUID = value
	case "as-group":
		user.ImpersonateGroups = append(user.ImpersonateGroups, value)
	case "as-extra":
		key, value, _ := strings.Cut(value, ":")
		if user.ImpersonateUserExtra == nil {
			user.ImpersonateUserExtra = map[string][]string{}
		}
		user.ImpersonateUserExtra[key] = append(user.ImpersonateUserExtra[key], value)
	case "proxy":
		cluster.ProxyURL = value
	case "no-compression":
		cluster.DisableCompression = value == "true"
	case "timeout":
		k.overrides.Timeout = value
	case "authority":
		cluster.CertificateAuthority = value
	case "insecure":
		cluster.InsecureSkipTLSVerify = value == "true"
	case "name":
		cluster.TLSServerName = value
	default:
		panic("no override " + name)
	}
}

// rules are those of NewDefaultClientConfigLoadingRules, whose home folder is that of the process.
func (k *kubeconfig) rules() *clientcmd.ClientConfigLoadingRules {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: k.explicit}
	switch {
	case k.list != "":
		for _, path := range filepath.SplitList(k.list) {
			if path != "" && !slices.Contains(rules.Precedence, path) {
				rules.Precedence = append(rules.Precedence, path)
			}
		}
	case k.home != "":
		rules.Precedence = []string{filepath.Join(k.home, clientcmd.RecommendedHomeDir, clientcmd.RecommendedFileName)}
	}
	return rules
}

func (k *kubeconfig) load() ([]string, error) {
	before, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if err := os.Chdir(k.folder); err != nil {
		return nil, err
	}
	defer func() { _ = os.Chdir(before) }()
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(k.rules(), &k.overrides)
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, err
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, err
	}
	return tell(config, namespace)
}

// tell goes as far as a client does before it connects, and says what it would connect with.
func tell(config *restclient.Config, namespace string) ([]string, error) {
	server, _, err := restclient.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	// Requests bring a query of their own, and a port that is not there is that of the scheme.
	server.RawQuery, server.Fragment = "", ""
	told := []string{"server " + strings.TrimRight(server.String(), "/:"), "namespace " + namespace}
	wire, err := config.TransportConfig()
	if err != nil {
		return nil, err
	}
	plugin := config.ExecProvider
	if _, err := transport.TLSConfigFor(wire); err != nil {
		return nil, err
	}
	if server.Scheme == "https" {
		told = append(told, trust(wire)...)
	}
	if plugin != nil {
		// Without it, as it would be run.
		without := restclient.CopyConfig(config)
		without.ExecProvider = nil
		if wire, err = without.TransportConfig(); err != nil {
			return nil, err
		}
	}
	headers, err := headersOf(wire, server.String())
	if err != nil {
		return nil, err
	}
	told = append(told, headers...)
	if plugin != nil && !wire.HasTokenAuth() && !wire.HasBasicAuth() && !wire.HasCertAuth() {
		lines, err := tellPlugin(config, plugin)
		if err != nil {
			return nil, err
		}
		told = append(told, lines...)
	}
	if config.Proxy != nil {
		request, err := http.NewRequest(http.MethodGet, server.String(), nil)
		if err != nil {
			return nil, err
		}
		proxy, err := config.Proxy(request)
		if err != nil {
			return nil, err
		}
		told = append(told, "proxy "+proxy.String())
	}
	if config.DisableCompression {
		told = append(told, "compression no")
	}
	if config.Timeout != 0 {
		told = append(told, "timeout "+config.Timeout.String())
	}
	return told, nil
}

func trust(wire *transport.Config) []string {
	var told []string
	switch {
	case wire.TLS.Insecure:
		told = append(told, "trust anybody")
	case len(wire.TLS.CAData) > 0:
		told = append(told, "trust "+tail(wire.TLS.CAData))
	case wire.TLS.CAFile != "":
		told = append(told, "trust "+tail(contentOf(wire.TLS.CAFile)))
	default:
		told = append(told, "trust platform")
	}
	if wire.TLS.ServerName != "" {
		told = append(told, "name "+wire.TLS.ServerName)
	}
	if wire.HasCertAuth() {
		certificate, key := wire.TLS.CertData, wire.TLS.KeyData
		if len(certificate) == 0 {
			certificate = contentOf(wire.TLS.CertFile)
		}
		if len(key) == 0 {
			key = contentOf(wire.TLS.KeyFile)
		}
		told = append(told, "client "+tail(certificate)+" "+tail(key))
	}
	return told
}

func contentOf(path string) []byte {
	content, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return content
}

// tail tells one PEM text from the others: the last characters before its end.
func tail(pem []byte) string {
	var body strings.Builder
	for _, line := range strings.Split(string(pem), "\n") {
		if !strings.HasPrefix(line, "-") {
			body.WriteString(strings.TrimSpace(line))
		}
	}
	text := body.String()
	return text[max(0, len(text)-12):]
}

// recorder keeps the headers of the request that it is given.
type recorder struct {
	headers http.Header
}

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	r.headers = request.Header
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: request}, nil
}

func headersOf(wire *transport.Config, server string) ([]string, error) {
	recorder := &recorder{}
	tripper, err := transport.HTTPWrappersForConfig(wire, recorder)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(http.MethodGet, server, nil)
	if err != nil {
		return nil, err
	}
	if _, err := tripper.RoundTrip(request); err != nil {
		return nil, err
	}
	var told []string
	for name, values := range recorder.headers {
		for _, value := range values {
			if name != "User-Agent" && name != "Accept-Encoding" {
				told = append(told, "header "+strings.ToLower(name)+": "+value)
			}
		}
	}
	slices.Sort(told)
	return told, nil
}

func tellPlugin(config *restclient.Config, plugin *clientcmdapi.ExecConfig) ([]string, error) {
	arguments := plugin.Args
	if arguments == nil {
		arguments = []string{}
	}
	told := []string{
		"exec " + plugin.Command,
		"exec arguments " + canonical(arguments),
		"exec version " + plugin.APIVersion,
		fmt.Sprintf("exec mode %s", plugin.InteractiveMode),
	}
	for _, variable := range plugin.Env {
		told = append(told, "exec variable "+variable.Name+"="+variable.Value)
	}
	if plugin.ProvideClusterInfo {
		cluster, err := restclient.ConfigToExecCluster(config)
		if err != nil {
			return nil, err
		}
		told = append(told, "exec cluster "+clusterInfo(cluster.Server, map[string]any{
			"tls-server-name":            cluster.TLSServerName,
			"insecure-skip-tls-verify":   cluster.InsecureSkipTLSVerify,
			"certificate-authority-data": tail(cluster.CertificateAuthorityData),
			"proxy-url":                  cluster.ProxyURL,
			"disable-compression":        cluster.DisableCompression,
			"config":                     cluster.Config,
		}))
	}
	return told, nil
}

// clusterInfo leaves out what is empty, as the serialized form does.
func clusterInfo(server string, fields map[string]any) string {
	info := map[string]any{"server": server}
	for name, value := range fields {
		switch value {
		case "", false, nil:
		default:
			info[name] = value
		}
	}
	return canonical(info)
}

// canonical is JSON whose members are in order.
func canonical(value any) string {
	first, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	var again any
	if err := json.Unmarshal(first, &again); err != nil {
		panic(err)
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(again); err != nil {
		panic(err)
	}
	return strings.TrimSpace(text.String())
}
