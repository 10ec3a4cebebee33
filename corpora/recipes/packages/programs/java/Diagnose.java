import java.util.*;
import javax.tools.*;

/** Compiles the named files and prints one JSON line for each diagnostic of the compiler's own collector. */
public class Diagnose {
    private static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') out.append('\\').append(c);
            else if (c < 32) out.append(String.format("\\u%04x", (int) c));
            else out.append(c);
        }
        return out.append('"').toString();
    }

    public static void main(String[] args) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        StandardJavaFileManager files = compiler.getStandardFileManager(found, Locale.ROOT, null);
        List<String> options = new ArrayList<>(List.of("-d", args[0]));
        List<String> names = new ArrayList<>();
        for (int i = 1; i < args.length; i++) (args[i].endsWith(".java") ? names : options).add(args[i]);
        compiler.getTask(null, files, found, options, null, files.getJavaFileObjectsFromStrings(names)).call();
        for (Diagnostic<? extends JavaFileObject> d : found.getDiagnostics()) {
            String file = d.getSource() == null ? "" : d.getSource().getName();
            System.out.println(
                "{\"kind\": " + quoted(d.getKind().name()) + ", \"code\": " + quoted(d.getCode()) + ", \"file\": " + quoted(file)
                    + ", \"line\": " + d.getLineNumber() + ", \"message\": " + quoted(d.getMessage(Locale.ROOT)) + "}");
        }
    }
}
