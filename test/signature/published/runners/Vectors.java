// Runs signature vectors against fixtures/receivers/java.java, beside which it is compiled. Argument: the vectors as
// tab-separated lines, since Java has no JSON parser of its own.
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;

class Vectors {
  public static void main(String[] arguments) throws Exception {
    List<String> lines = Files.readAllLines(Path.of(arguments[0]));
    int failed = 0;
    for (String line : lines) {
      String[] one = line.split("\t", -1);
      byte[] body = Base64.getDecoder().decode(one[3]);
      boolean genuine = Receiver.isGenuine(text(one[1]), text(one[2]), body, Long.parseLong(one[4]), Long.parseLong(one[5]));
      if (one[6].equals("either") || genuine == one[6].equals("accepted")) continue;
      System.err.println(text(one[0]));
      failed++;
    }
    System.out.println("java: " + (lines.size() - failed) + " of " + lines.size());
    System.exit(failed > 0 ? 1 : 0);
  }

  static String text(String base64) {
    return new String(Base64.getDecoder().decode(base64), StandardCharsets.UTF_8);
  }
}
