// Runs signature vectors against IsGenuine of fixtures/receivers/csharp.cs, which the test puts in the marked place.
// Argument: the vectors as tab-separated lines. Mono has an older library, so what it lacks is added here.
using System;
using System.IO;
using System.Linq;
using System.Text;
using System.Text.RegularExpressions;

static class HMACSHA256
{
    public static byte[] HashData(byte[] key, byte[] text)
    {
        using (var hmac = new System.Security.Cryptography.HMACSHA256(key)) return hmac.ComputeHash(text);
    }
}

static class Convert
{
    public static string ToHexString(byte[] bytes) { return BitConverter.ToString(bytes).Replace("-", ""); }
}

static class CryptographicOperations
{
    public static bool FixedTimeEquals(byte[] one, byte[] other) { return one.SequenceEqual(other); }
}

static class Vectors
{
    /* IsGenuine */

    static int Main(string[] arguments)
    {
        var lines = File.ReadAllLines(arguments[0]);
        var failed = 0;
        foreach (var line in lines)
        {
            var one = line.Split('\t');
            var genuine = IsGenuine(Text(one[1]), Text(one[2]), Bytes(one[3]), long.Parse(one[4]), long.Parse(one[5]));
            if (one[6] == "either" || genuine == (one[6] == "accepted")) continue;
            Console.Error.WriteLine(Text(one[0]));
            failed++;
        }
        Console.WriteLine("csharp: " + (lines.Length - failed) + " of " + lines.Length);
        return failed > 0 ? 1 : 0;
    }

    static byte[] Bytes(string base64) { return System.Convert.FromBase64String(base64); }

    static string Text(string base64) { return Encoding.UTF8.GetString(Bytes(base64)); }
}
